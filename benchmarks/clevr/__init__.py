"""Benchmarks of the shipped CLEVR models: on scenes, on other pictures, and on degraded pictures."""
