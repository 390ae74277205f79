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
    "constant": 6.32,
    "similar statements": 0.27,
    "one colour after": 4.32,
    "one colour before": 1.09,
    "one step": 0.0,
    "one move": 2.19,
    "one growth": 0.4,
    "one push": 3.19,
    "one top": 1.44,
    "grown alike": 3.12,
    "one first change": 0.89,
    "kinds of change": 0.53,
    "new colours": 1.82,
    "looks": 1.86,
    "kinds": -0.96,
    "step": -2.38,
    "share": -0.69,
    "touched": -2.52,
    "density": -1.52,
    "motion": -0.3,
    "changes": -1.25,
    "places": -7.42,
    "pushes": -0.46,
}
"""The contribution of each feature of two answers to the log odds of a common cause
(``compare/evidence``)."""
