"""What models answer: labels, probabilities, records, and their names."""
