"""The names that programs use: there, shown by ``dir``, and imported when they are used."""

import doctest
import subprocess
import sys

import pytest

import whatchanged
import whatchanged.training
from whatchanged import records

PUBLIC = {
    *("Answer", "Answerer", "describe"),
    *("Captioner", "Description", "load"),
    *("CaptionedPairs", "Launch", "caption_pairs"),
    *("datasets", "evaluation", "recipes", "training"),
    *("WhatchangedError", "__version__"),
}


def test_the_public_names_are_there_and_shown():
    assert set(whatchanged.__all__) == set(dir(whatchanged)) == PUBLIC
    assert all(getattr(whatchanged, name) is not None for name in PUBLIC)
    assert callable(whatchanged.datasets.open_dataset)
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        whatchanged.nothing_of_the_kind  # noqa: B018


def test_training_shows_its_functions():
    assert dir(whatchanged.training) == ["export_run", "train"]
    pytest.importorskip("torch")
    assert whatchanged.training.train.__name__ == "run_recipe"
    assert whatchanged.training.export_run.__name__ == "export_run"
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        whatchanged.training.nothing_of_the_kind  # noqa: B018


def test_the_old_name_of_a_box_with_its_size_warns():
    with pytest.warns(DeprecationWarning, match="SizedBox"):
        assert records.Box == records.SizedBox
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        records.nothing_of_the_kind  # noqa: B018


def fresh(program):
    """What a new interpreter prints."""
    command = [sys.executable, "-W", "error", "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_importing_it_imports_nothing_heavy():
    program = "import whatchanged, whatchanged.training, sys;"
    heavy = "print({'numpy', 'onnxruntime', 'torch', 'PIL', 'typer'} & set(sys.modules))"
    assert fresh(program + heavy) == "set()\n"
    used = "whatchanged.datasets.open_dataset; whatchanged.evaluation; whatchanged.recipes;"
    assert fresh(program + used + "print('torch' in sys.modules)") == "False\n"


def test_without_torch_training_says_what_to_install():
    program = (
        "import sys; sys.modules['torch'] = None; import whatchanged\n"
        "for name in ('train', 'export_run'):\n"
        "    try: getattr(whatchanged.training, name)\n"
        "    except whatchanged.WhatchangedError as error: print(error)"
    )
    first, second = fresh(program).splitlines()
    assert first.startswith("whatchanged.training.train needs torch") and "[train]" in first
    assert second.startswith("whatchanged.training.export_run needs torch")


def test_the_examples_are_true():
    found = doctest.testmod(whatchanged)
    assert found.attempted >= 6 and found.failed == 0
