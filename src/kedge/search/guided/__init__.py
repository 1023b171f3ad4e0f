"""The strategy for models that can only be asked."""
