"""Plots from one description, drawn by matplotlib or by Vega in a browser."""
