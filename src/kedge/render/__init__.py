"""Showing explanations: functions of the result, for terminals, pages and plots."""
