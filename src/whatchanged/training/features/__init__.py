"""Frozen backbones: run once and stored, or put in front of a model that learned from what they stored."""
