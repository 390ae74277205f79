"""Frozen backbones, run once over a data set or a pool, and what they made of it stored."""
