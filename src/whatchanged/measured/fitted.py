"""Constants that were fitted on drawn pairs, and some of them on real pairs too.

These tools write the constants. Do not edit them by hand.

    python tools/fit gate FOLDER [FOLDER ...] --write    FINE to ODDS
    python tools/fit groups FOLDER UI_TRAIN --write      CAUSE

Constants that were set by hand are defined beside their use.
"""

FINE = (7.4, 0.38)
COARSE = (0.47, 0.024)
COARSE_COLOR = (1.01, 0.0)
INK = (0.78, 0.195)
"""The threshold of each measure of ``pixels/gate.py``.

The first number is the least visible difference on a uniform area, in grey levels. The second one is the
increase of the threshold for each grey level of local contrast.
"""
STEEPNESS = 2.06
"""The exponent of the score in the odds of a change."""
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
"""The contribution of each feature of two answers to the log odds of a common cause
(``compare/evidence``)."""
