"""The figures of papers: attention over both pictures of a pair, matched cells, scores by overlap.

These modules draw given arrays and pictures; they compute no attention. A figure is saved as PNG or SVG, and
a notebook displays it. ``maps.py`` draws maps under titles (words, blocks), ``alignment.py`` draws matched
cells, ``overlap.py`` draws a report's scores; all draw on ``figure.py``.
"""

from whatchanged.figures.alignment import Alignment, draw_alignment
from whatchanged.figures.figure import Figure
from whatchanged.figures.maps import draw_maps
from whatchanged.figures.overlap import draw_overlap

__all__ = ["Alignment", "Figure", "draw_alignment", "draw_maps", "draw_overlap"]
