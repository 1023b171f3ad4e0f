"""What kedge answers, as data."""
