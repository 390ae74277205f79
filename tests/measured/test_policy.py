import pytest

from whatchanged.errors import WhatchangedError
from whatchanged.measured.policy import DEFAULT, POLICIES, Policy, find_policy


def test_policies_are_ordered_from_lenient_to_strict():
    lenient, usual, strict = (POLICIES[name] for name in ("lenient", "default", "design-system"))
    assert usual is DEFAULT is find_policy("default")
    for name in ("radius", "weight", "fill", "color"):
        assert getattr(lenient, name) > getattr(usual, name) > getattr(strict, name)
    assert lenient.shift > usual.shift and lenient.sensitivity < 1 < strict.sensitivity


def test_an_unknown_policy_names_those_that_there_are():
    with pytest.raises(WhatchangedError, match="'strict'; there are lenient, default, design-system"):
        find_policy("strict")


@pytest.mark.parametrize(
    ("limit", "value"), [("fill", 0), ("fill", 2.5), ("radius", -1), ("weight", True), ("every_pixel", 1)]
)
def test_a_wrong_limit_is_refused(limit, value):
    with pytest.raises(WhatchangedError, match=f"The policy's {limit} is"):
        Policy("mine", **{limit: value})
