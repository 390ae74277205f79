"""Benchmarks of time and memory."""
