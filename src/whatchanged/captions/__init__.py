"""Caption all pairs of a list or data set, and write predictions. An interrupted run can be resumed."""

from whatchanged.captions.engine import CaptionedPairs, caption_pairs

__all__ = ["CaptionedPairs", "caption_pairs"]
