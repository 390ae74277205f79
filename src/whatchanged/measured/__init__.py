"""The measured answer for any two pictures: a verdict, boxes and a sentence. It is computed without a
model."""

from whatchanged.measured.measure import measure, measure_read
from whatchanged.measured.result import Box, Kind, Measured, MeasuredVerdict, Statement

__all__ = ["Box", "Kind", "Measured", "MeasuredVerdict", "Statement", "measure", "measure_read"]
