"""Drawn birds in the layouts of the real data sets."""
