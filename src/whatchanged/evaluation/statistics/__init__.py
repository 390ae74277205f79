"""Intervals, paired comparisons, seeds: how sure the numbers are."""
