"""Distributions of sums on grids, with certified tails."""
