"""Weights that travel: into a model from CLIP's files, and a run's from machine to machine."""
