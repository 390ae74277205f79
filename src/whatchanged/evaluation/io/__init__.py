"""Predictions and references as they lie on disk."""
