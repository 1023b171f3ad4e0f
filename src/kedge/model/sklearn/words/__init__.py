"""Single words of a vocabulary: a feature is a function of one word's count."""
