"""Pictures of two sizes: turned, mirrored, cropped, resized, or with lines that came or went."""

from whatchanged.measured import words
from whatchanged.measured.reading import Pixels
from whatchanged.measured.result import Statement


def compare_sizes(before: Pixels, after: Pixels, threshold: float) -> list[Statement]:
    """Statements about two pictures of two sizes, best first."""
    sizes = [(picture.shape[1], picture.shape[0]) for picture in (before, after)]
    text = "the picture's size changed from {} x {} to {} x {} pixels".format(*sizes[0], *sizes[1])
    boxes = [(0, 0, width, height) for width, height in sizes]
    return [
        Statement("resized", boxes[0], boxes[1], words.capitalised(text), 0.5, 1.0, {"aspect": "canvas"}, (boxes[1],))
    ]
