"""Worlds whose truth is known: their scenes as data, and their language."""
