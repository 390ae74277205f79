"""Which device a command computes on."""

import pytest

from whatchanged.errors import RecipeError
from whatchanged.training.device import choose_device


@pytest.mark.parametrize("name", ["cpu:abc", "gpu", "cuda:1000", ""])
def test_a_device_that_is_not_there_is_named(name):
    with pytest.raises(RecipeError, match=f"--device {name}: "):
        choose_device(name)


def test_a_device_is_found():
    assert choose_device("cpu").type == "cpu"
