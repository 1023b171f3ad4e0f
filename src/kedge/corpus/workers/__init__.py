"""Where documents are explained: processes, clusters, and what a worker does."""
