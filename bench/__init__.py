"""Benchmarks of Perdure."""
