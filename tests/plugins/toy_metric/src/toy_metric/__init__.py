"""A metric of its own: which share of all words a caption and its nearest reference have in common."""

from collections.abc import Sequence


def word_overlap(captions: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    """The score of each caption, from 0 to 1: the best overlap of words with one of its references."""
    return [
        max(_overlap(caption, reference) for reference in own)
        for caption, own in zip(captions, references, strict=True)
    ]


def _overlap(caption: str, reference: str) -> float:
    """Words in both, of words in either."""
    said, wanted = set(caption.split()), set(reference.split())
    return len(said & wanted) / max(1, len(said | wanted))
