"""Constants that were fitted on drawn pairs, some on real ones too. The tools named here write them; nobody
does by hand.

    python tools/fit gate FOLDER [FOLDER ...] --write    FINE to ODDS
    python tools/fit groups FOLDER UI_TRAIN --write      CAUSE

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

CAUSE = {
    "constant": 9.31,
    "one kind": 0.34,
    "one colour after": 4.81,
    "one step": 2.33,
    "one push": 2.98,
    "one left": 1.76,
    "one top": 0.57,
    "pictures of one size": 0.82,
    "grown alike": 3.74,
    "kinds": -0.65,
    "step": -2.88,
    "share": -1.15,
    "touched": -1.45,
    "density": -4.18,
    "motion": 0.0,
    "changes": -3.76,
    "places": -5.99,
    "shapes": -1.47,
}
"""What each feature of two answers adds to the logarithm of the odds of one cause (``compare/evidence``)."""
