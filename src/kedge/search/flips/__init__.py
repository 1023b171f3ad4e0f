"""The fewest words whose removal loses a label: by sorting, by branch and bound, or by queries."""
