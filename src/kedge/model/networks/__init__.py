"""Torch modules and transformers."""
