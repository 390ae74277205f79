"""Predictions, references, similarities and attention maps as they lie on disk."""
