"""Captions and references in, numbers out; no model, no torch."""
