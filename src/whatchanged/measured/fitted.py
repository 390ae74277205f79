"""Constants that were fitted on drawn pairs. The tools named here write them; nobody does by hand.

    python tools/fit gate FOLDER [FOLDER ...] --write    FINE to ODDS
    python tools/fit groups FOLDER --write               WEIGHTS and FAR

What was set by hand stands beside its use.
"""

FINE = (7.4, 0.38)
COARSE = (0.47, 0.024)
COARSE_COLOR = (1.01, 0.0)
INK = (0.78, 0.195)
"""Of each measure of ``pixels/gate.py`` the grey levels from which on a difference is visible on flat ground,
and how many more for each level of contrast there."""
STEEPNESS = 2.06
"""The odds of a change grow with this power of the score."""
ODDS = 0.77
"""The odds of a change at the threshold."""

WEIGHTS = {
    "kinds": 1.55,
    "step": 2.38,
    "share": 1.24,
    "touched": 0.89,
    "density": 1.63,
    "motion": 0.37,
    "changes": 2.75,
    "places": 0.52,
}
"""How much each part of two signatures speaks against one cause, for ``compare/grouping.py``."""
FAR = 4.86
"""Pairs of a mean distance above this one have other causes."""
