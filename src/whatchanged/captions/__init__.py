"""Sentences for many pairs: a list or a data set in, predictions out, resumed where they stopped."""

from whatchanged.captions.engine import CaptionedPairs, caption_pairs

__all__ = ["CaptionedPairs", "caption_pairs"]
