"""How far a measured share may lie from the true one."""

import math

Z = 1.959963984540054
"""The normal distribution's 97.5 % point: two sides at 95 %."""


def wilson(count: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share ``count / of``, both in 0..1; (0, 1) where nothing was counted.

        centre = (p + z²/2n) / (1 + z²/n),   half = z sqrt(p(1-p)/n + z²/4n²) / (1 + z²/n)

    It takes the counted cases as independent. Source: Wilson, JASA 1927.
    """
    if of == 0:
        return 0.0, 1.0
    part, spread = count / of, Z**2 / of
    centre = (part + spread / 2) / (1 + spread)
    half = Z * math.sqrt(part * (1 - part) / of + spread / (4 * of)) / (1 + spread)
    # Exact at the ends, where rounding would leave 1e-17.
    return 0.0 if count == 0 else centre - half, 1.0 if count == of else centre + half


def share(count: int, of: int) -> dict[str, float | int | None]:
    """A share as reports hold it: percent (None where nothing was counted), interval and counts."""
    low, high = wilson(count, of)
    percent = 100 * count / of if of else None
    return {"percent": percent, "low": 100 * low, "high": 100 * high, "count": count, "of": of}
