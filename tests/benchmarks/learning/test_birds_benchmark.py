"""Table 5 on drawn birds: equal steps, how captions are judged, intervals, and a whole small one."""

import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from whatchanged.worlds.birds.bird import Bird

ONE = Bird(
    *("red", "blue", "yellow", "green", "orange", "black"),
    0.9,
    0.5,
    0.5,
    0.9,
    *("plain", "plain", "white", "white"),
    stripe="",
    crest=False,
)
TWO = Bird(
    *("red", "white", "grey", "green", "orange", "black"),
    0.1,
    0.5,
    0.5,
    0.1,
    *("plain", "plain", "white", "white"),
    stripe="",
    crest=True,
)


SCRIPT = "learning.birds"


def test_all_rows_take_as_many_steps_and_differ_in_data_only(bench):
    recipes = [bench.recipe_of(row, 1, Path("work"), 60, 40) for row in bench.ROWS]
    assert [[stage.steps for stage in recipe.stages] for recipe in recipes] == [
        [60, 40],
        [30, 30, 40],
        [60, 40],
        [30, 30, 40],
    ]
    assert len({repr(recipe.stages[-1]) for recipe in recipes}) == 1
    assert ["fgvc" in recipe.stages[-2].tasks for recipe in recipes] == [False, False, True, True]
    assert [recipe.method.classes for recipe in recipes[2:]] == [bench.SPECIES, bench.SPECIES]
    assert len({(r.method.width, r.vision.rows, r.data.features) for r in recipes}) == 1


@pytest.mark.parametrize(
    ("caption", "share", "whole"),
    [
        ("animal1 is larger than animal2 . animal2 has a crest .", 1.0, True),
        ("animal1 is smaller . animal2 has a crest .", 0.5, False),
        ("animal1 has a blue head . animal2 has a white head .", 1.0, True),
        ("animal1 has a blue head while animal2 has a blue head . animal1 has a longer beak", 0.5, False),
        ("animal1 sings . animal2 has a crest .", 0.5, False),
        ("", 0.0, False),
    ],
)
def test_a_caption_is_judged_sentence_by_sentence_and_as_a_whole(bench, caption, share, whole):
    assert bench.judge(caption, ONE, TWO) == (share, whole)


def test_the_table_compares_on_the_same_draws(bench):
    pairs = np.random.default_rng(1).uniform(0, 100, (4, 50))
    results = {(bench.ROWS[0], seed): pairs + seed for seed in (0, 1)}
    results |= {(bench.ROWS[1], seed): pairs + seed + 7 for seed in (0, 1)}
    results[bench.ROWS[2], 0] = pairs  # a seed is missing
    lines = bench.table_of(bench.rows_of(results, {"one for all": pairs}, [0, 1])).splitlines()
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["one for all", *bench.ROWS[:2]]
    assert "| +7.0 [7.0, 7.0] | +7.0 [7.0, 7.0] |" in lines[-1]
    cells = [line.split("|")[2].split() for line in lines[2:]]
    assert float(cells[1][0]) == pytest.approx(pairs[0].mean() + 0.5, abs=0.06)
    low, high = float(cells[0][1].strip("[,")), float(cells[0][2].strip("]"))
    expected = 2 * 1.96 * pairs[0].std() / 50**0.5  # of the mean of 50 pairs, however many seeds
    assert high - low == pytest.approx(expected, rel=0.1)


def test_one_process_is_at_a_run(bench, tmp_path):
    with bench.mine(tmp_path / "run") as first, bench.mine(tmp_path / "run") as second:
        assert first and not second
    with bench.mine(tmp_path / "run") as again:
        assert again


def test_processes_that_share_a_folder_draw_and_store_once(bench, tmp_path, monkeypatch):
    """The others wait; a lock on an open file holds between threads as it does between processes."""
    made = []

    def make(name):
        def slowly(*given, **more):
            made.append(name)
            time.sleep(0.2)
            (tmp_path / "work" / name).mkdir()

        return slowly

    monkeypatch.setattr(bench, "write_birds", make("twin"))
    monkeypatch.setattr(bench, "store_grids", make("grids"))
    given = (tmp_path / "work", 20, 2, "cpu")
    threads = [threading.Thread(target=bench.make_data, args=given) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == ["twin", "grids"]


@pytest.mark.slow
def test_a_whole_small_one(bench, tmp_path, monkeypatch, capsys):
    def grids(twin, out, device):
        out.mkdir()
        for path in twin.rglob("*.jpg"):
            np.save(out / f"{path.name}.npy", np.random.default_rng(0).random((9, 1280), np.float32))

    monkeypatch.setattr(bench, "store_grids", grids)
    asked = ["birds.py", str(tmp_path / "work"), "--seeds", "3", "--pairs", "20", "--tested", "2"]
    monkeypatch.setattr(sys, "argv", [*asked, "--learning", "4", "--steps", "2"])
    bench.main()
    out = capsys.readouterr()
    rows = [line.split("|")[1].strip() for line in out.out.splitlines()[2:]]
    assert rows[-4:] == list(bench.ROWS) and rows[3] == "a writer" and len(rows) == 8
    assert len((tmp_path / "work" / f"{bench.ROWS[0]}-3" / "test.jsonl").read_text().splitlines()) == 4
    monkeypatch.setattr(bench, "train_row", None)  # nothing is trained twice
    bench.main()
    assert capsys.readouterr().out == out.out
