"""Runs frozen backbones once over a data set or a pool, and stores the features."""

from whatchanged.training.features.openers import GridNetwork

__all__ = ["GridNetwork"]
