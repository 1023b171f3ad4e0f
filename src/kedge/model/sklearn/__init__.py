"""What is inside scikit-learn pipelines."""
