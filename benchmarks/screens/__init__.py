"""Benchmarks on screens: real pairs, drawn pairs, plots, groups; and the drawers of such pairs."""
