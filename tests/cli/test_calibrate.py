"""``whatchanged calibrate`` as a person calls it."""

import pytest
from support.compared_screens import two_runs


@pytest.fixture
def runs(tmp_path):
    return two_runs(tmp_path)


def test_two_runs_of_one_state_teach_the_noise(whatchanged, runs, tmp_path):
    learned, before = tmp_path / "noise.json", tmp_path / "before.json"
    code, said, err = whatchanged("calibrate", *runs, "-o", learned, "--workers", 1)
    assert (
        code == 0
        and err == ""
        and said.startswith(
            "6 pictures compared; sensitivity 1; unsteady places in 4 pictures, at most 2.8 % of one"
        )
    )
    code, _, err = whatchanged("compare", "--calibrate", *runs, "-o", before, "--workers", 1)
    assert code == 0 and f"type: whatchanged calibrate {runs[0]} {runs[1]} -o {before}" in err
    assert learned.read_bytes() == before.read_bytes()
    assert whatchanged("compare", *runs, "--noise", learned, "--workers", 1)[0] == 0


@pytest.mark.parametrize(
    ("second", "output", "message"),
    [
        ("new", "old/02.png", "belongs to one of the inputs"),
        ("old", "noise.json", "are the same folder"),
        ("none", "noise.json", "there is no such folder"),
        ("new", "none/noise.json", "Make it first"),
    ],
)
def test_wrong_calls_end_with_2_and_write_nothing(whatchanged, runs, tmp_path, second, output, message):
    code, said, err = whatchanged("calibrate", runs[0], tmp_path / second, "-o", tmp_path / output)
    assert (code, said) == (2, "") and message in err
    assert not (tmp_path / "noise.json").exists()
