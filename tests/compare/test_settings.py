import math

import pytest

from whatchanged.compare.settings import Settings
from whatchanged.errors import WhatchangedError


@pytest.mark.parametrize("sensitivity", [0, -1, math.nan, math.inf])
def test_a_sensitivity_that_is_none_is_refused(sensitivity):
    with pytest.raises(WhatchangedError, match="give a number above 0"):
        Settings(sensitivity=sensitivity)
