"""Certificates: what a claim rests on, as data that anybody can check."""
