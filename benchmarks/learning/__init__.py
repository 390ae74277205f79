"""Trains the rows of the papers' tables at small size: ``python -m benchmarks.learning``."""
