"""Weights that travel: into a model from CLIP's files or a bundle, and a run's from machine to machine."""
