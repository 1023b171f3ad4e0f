"""What a model's answer is made of, as data: sums, windows, leads, leaves."""
