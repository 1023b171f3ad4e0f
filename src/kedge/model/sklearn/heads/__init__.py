"""Classifiers that decide by a few sums over features."""
