"""Frozen backbones, run once over a data set or a pool, and what they made of it stored."""

from whatchanged.training.features.openers import GridNetwork

__all__ = ["GridNetwork"]
