"""The figures of papers: attention over the two pictures of a pair, matched places, scores by overlap.

Drawn from arrays and pictures, with nothing that computes attention; a figure is PNG or SVG, and shows itself
in a notebook. ``maps.py`` draws maps under titles (words, blocks), ``alignment.py`` matched places,
``overlap.py`` a report's scores; ``figure.py`` is what they draw on.
"""

from whatchanged.figures.alignment import Alignment, draw_alignment
from whatchanged.figures.figure import Figure
from whatchanged.figures.maps import draw_maps
from whatchanged.figures.overlap import draw_overlap

__all__ = ["Alignment", "Figure", "draw_alignment", "draw_maps", "draw_overlap"]
