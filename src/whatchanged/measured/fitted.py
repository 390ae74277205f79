"""Constants that were fitted on drawn pairs, and some of them on real pairs too.

These tools write the constants. Do not edit them by hand.

    python tools/fit gate FOLDER [FOLDER ...] --write    FINE to ODDS
    python tools/fit groups FOLDER... UI_TRAIN --write   CAUSE

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
    "constant": 6.06,
    "similar statements": 0.55,
    "one colour after": 2.86,
    "one colour before": 0.81,
    "one step": 0.0,
    "one move": 1.4,
    "one growth": 0.95,
    "one push": 0.01,
    "one top": 1.24,
    "grown alike": 4.01,
    "one first change": 0.46,
    "two changes": 1.36,
    "kinds of change": 0.4,
    "one distance": 1.22,
    "one long distance": 3.08,
    "new colours": 1.54,
    "colours that came": 1.9,
    "looks": 1.61,
    "kinds": -1.19,
    "step": -2.63,
    "share": -1.31,
    "touched": -2.07,
    "density": -2.08,
    "motion": -0.41,
    "changes": -2.61,
    "places": -4.95,
    "colours in one": -0.57,
}
"""The contribution of each feature of two answers to the log odds of a common cause
(``compare/evidence``)."""
