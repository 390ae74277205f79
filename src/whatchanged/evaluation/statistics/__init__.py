"""Intervals, paired tests, seeds."""
