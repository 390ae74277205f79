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
    "constant": 9.26,
    "one colour after": 4.8,
    "one step": 2.46,
    "one push": 2.42,
    "one left": 0.91,
    "one top": 1.96,
    "pictures of one size": 0.91,
    "grown alike": 5.0,
    "kinds": -1.37,
    "step": -1.92,
    "share": -1.6,
    "touched": -0.64,
    "density": -2.54,
    "motion": -0.1,
    "changes": -4.58,
    "places": -7.23,
}
"""What each feature of two answers adds to the logarithm of the odds of one cause (``compare/evidence``)."""
