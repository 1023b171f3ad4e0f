"""One model's view of one document."""
