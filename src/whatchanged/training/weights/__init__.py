"""Moves weights: from published files into a model, and from a run to another machine."""
