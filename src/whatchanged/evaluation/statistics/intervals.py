"""Confidence intervals by formula: of a share, and of a mean of few values."""

import math
from collections.abc import Sequence

Z = 1.959963984540054
"""The 97.5 % quantile of the normal distribution, for two-sided 95 % intervals."""


def wilson(count: int, of: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a share ``count / of``, in 0..1; (0, 1) where nothing was
    counted.

        centre = (p + z²/2n) / (1 + z²/n),   half = z sqrt(p(1-p)/n + z²/4n²) / (1 + z²/n)

    The counted cases are assumed to be independent. Source: Wilson, JASA 1927.
    """
    if of == 0:
        return 0.0, 1.0
    part, spread = count / of, Z**2 / of
    centre = (part + spread / 2) / (1 + spread)
    half = Z * math.sqrt(part * (1 - part) / of + spread / (4 * of)) / (1 + spread)
    # Exact at the ends, where rounding would leave 1e-17.
    return 0.0 if count == 0 else centre - half, 1.0 if count == of else centre + half


def share(count: int, of: int) -> dict[str, float | int | None]:
    """Return a share as in reports: percent (None where nothing was counted), interval and counts."""
    low, high = wilson(count, of)
    percent = 100 * count / of if of else None
    return {"percent": percent, "low": 100 * low, "high": 100 * high, "count": count, "of": of}


def mean_interval(values: Sequence[float]) -> tuple[float, float, float, float]:
    """Return mean, standard deviation and the 95 % interval of the mean of at least two independent values.

        s² = sum (x - mean)² / (n - 1),   mean ± t_{n-1} s / sqrt(n)

    Source: Student, Biometrika 1908.
    """
    count = len(values)
    mean = math.fsum(values) / count
    deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (count - 1))
    half = student(count - 1) * deviation / math.sqrt(count)
    return mean, deviation, mean - half, mean + half


def student(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t with this many degrees of freedom, with a relative error of
    1e-9.
    """
    low, high = 0.0, math.pi / 2
    for _ in range(80):
        angle = (low + high) / 2
        low, high = (angle, high) if _within(angle, freedom) < 0.95 else (low, angle)
    return math.sqrt(freedom) * math.tan(low)


def _within(angle: float, freedom: int) -> float:
    """Return P(|t| < sqrt(freedom) tan(angle)), a finite sum for whole degrees of freedom.

        even:  sin a (1 + 1/2 cos² a + (1·3)/(2·4) cos⁴ a + ...)
        odd:   2/pi (a + sin a (cos a + 2/3 cos³ a + (2·4)/(3·5) cos⁵ a + ...)),   (freedom // 2) terms each

    Source: Abramowitz and Stegun, 26.7.3 and 26.7.4.
    """
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for k in range(freedom // 2):
        total += term
        term *= (2 * k + 1 + odd) / (2 * k + 2 + odd) * math.cos(angle) ** 2
    inner = math.sin(angle) * total
    return 2 / math.pi * (angle + inner) if odd else inner
