"""Every other vectoriser: a feature is a sum over occurrences, each with its positions, column and weight."""
