"""Certificates: what a claim rests on, as data that anyone can check."""
