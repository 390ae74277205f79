"""Confidence intervals, paired comparisons, and the spread over seeds."""
