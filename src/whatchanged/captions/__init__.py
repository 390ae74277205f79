"""Caption many pairs: a list or a data set in, predictions out; an interrupted run can be resumed."""

from whatchanged.captions.engine import CaptionedPairs, caption_pairs

__all__ = ["CaptionedPairs", "caption_pairs"]
