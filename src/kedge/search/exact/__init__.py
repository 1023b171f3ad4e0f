"""Strategies for models that can be read, and for documents small enough to ask everything."""
