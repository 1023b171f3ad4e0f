"""Studies built on explanations: examples, steps, verdicts, comparisons."""
