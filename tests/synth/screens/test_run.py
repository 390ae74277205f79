"""Sets are written, resumed and grown; their pairs are read as any list is, and judged by their truth."""

import json
from contextlib import contextmanager

import numpy as np
import pytest

from whatchanged.datasets import open_dataset
from whatchanged.errors import OutputError
from whatchanged.synth import screens as rooms
from whatchanged.synth.screens import DrawnPair, run
from whatchanged.synth.screens.recoding import png
from whatchanged.worlds import Drawing, find_world, world_of
from whatchanged.worlds.screens.truth import ScreenChange, ScreenTruth

SIZE = (64, 64)


class Squares:
    """A family that needs no browser: a square that turns from red to blue, or a level of noise."""

    renderer = "squares 1"
    drawn = 0

    def draw(self, seed, index, split):
        Squares.drawn += 1
        rng = np.random.default_rng([seed, index])
        before = rng.integers(0, 255, (40, 50, 3)).astype(np.uint8)
        before[10:20, 10:20] = (217, 48, 37)
        changed = before.copy()
        changed[10:20, 10:20] = (26, 115, 232)
        values = {"aspect": "fill", "color_before": "#d93025", "color_after": "#1a73e8"}
        change = ScreenChange("recolored", "button", "", (10, 10, 20, 20), (10, 10, 20, 20), values)
        first = png(before)
        return [
            DrawnPair(
                first, png(changed), ScreenTruth((change,), (), (50, 40), (50, 40), "pages", {"split": split})
            ),
            DrawnPair(first, png(before ^ 1), ScreenTruth((), ("levels 1",), (50, 40), (50, 40), "pages")),
        ]


@contextmanager
def open_squares(options):
    yield Squares()


@pytest.fixture(autouse=True)
def families(monkeypatch):
    results = {"pages": f"{__name__}:open_squares", "plots": f"{__name__}:open_squares"}
    for module in (rooms, run):
        monkeypatch.setattr(module, "FAMILIES", results)
    monkeypatch.setattr(run, "find_family", lambda name: open_squares)
    monkeypatch.setattr(run, "PART", 4)


def draw(out, documents, seed=1, family="pages", size=SIZE, changes="mixed"):
    done = []
    told = run.draw_screens(Drawing(out, documents, seed, size, 1, "cpu", done.append), family, "", changes)
    assert sum(done) == documents
    return told


def files(out):
    return {p.relative_to(out).as_posix(): p.read_bytes() for p in sorted(out.rglob("*")) if p.is_file()}


def test_a_set_is_a_list_of_pairs_with_truth(tmp_path):
    told = draw(tmp_path / "set", 12)
    assert told.startswith("12 documents, 24 pairs; 24 of them drawn now (12 changed), ")
    dataset = open_dataset(tmp_path / "set")
    assert dataset.name == "plain" and len(dataset.records) == 24
    assert {r.split: r.group_id for r in dataset.records if r.split != "train"} == {
        "val": "pages-000008",
        "test": "pages-000009",
    }
    assert [r.changed for r in dataset.records[:2]] == [True, False]
    world = world_of(dataset.name, tmp_path / "set")
    assert world is not None and world.name == "screens"
    truths = world.truth.read(tmp_path / "set", dataset.records)
    for record in dataset.records:
        assert record.captions and all(
            world.language.judge(c, truths[record.pair_id]).true for c in record.captions
        )
    assert dataset.records == open_dataset(tmp_path / "set" / "pairs.jsonl").records


def test_pictures_that_pairs_share_are_there_once(tmp_path):
    draw(tmp_path / "set", 1)
    lines = [json.loads(line) for line in (tmp_path / "set/pairs.jsonl").read_text("utf-8").splitlines()]
    assert lines[0]["before"] == lines[1]["before"]
    assert len(list((tmp_path / "set/images").rglob("*.png"))) == 3


def test_a_set_that_was_interrupted_goes_on(tmp_path, monkeypatch):
    draw(tmp_path / "whole", 10)
    draw_one = Squares.draw

    def broken(self, seed, index, split):
        if index == 6:
            raise KeyboardInterrupt
        return draw_one(self, seed, index, split)

    monkeypatch.setattr(Squares, "draw", broken)
    with pytest.raises(KeyboardInterrupt):
        draw(tmp_path / "cut", 10)
    assert not (tmp_path / "cut/pairs.jsonl").exists()
    monkeypatch.setattr(Squares, "draw", draw_one)
    before = Squares.drawn
    draw(tmp_path / "cut", 10)
    assert Squares.drawn - before == 6  # the first part of four was there
    assert files(tmp_path / "cut") == files(tmp_path / "whole")


def test_a_set_grows_into_the_one_that_is_drawn_at_once(tmp_path):
    draw(tmp_path / "grown", 6)
    draw(tmp_path / "grown", 11)
    draw(tmp_path / "once", 11)
    assert files(tmp_path / "grown") == files(tmp_path / "once")
    assert draw(tmp_path / "grown", 5) == "all of 11 documents were there"


def test_a_set_that_was_ended_as_it_grew_names_no_pair_twice(tmp_path, monkeypatch):
    """Ended between the list and what says how long it is, or before the parts were cleared."""
    draw(tmp_path / "once", 11)
    for number, written in enumerate(("drawing.json", "nothing")):
        out = tmp_path / str(number)
        draw(out, 6)
        write = run.write_whole

        def ended(path, content, written=written, write=write):
            if path.name == written:
                raise KeyboardInterrupt
            write(path, content)

        def never(out, done):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(run, "write_whole", ended)
            patch.setattr(run, "_clear_parts", never)
            draw(out, 11)
        draw(out, 11)
        assert files(out) == files(tmp_path / "once")


def test_a_document_has_the_same_captions_whatever_else_is_drawn(tmp_path):
    draw(tmp_path / "all", 6, family="all")
    draw(tmp_path / "plots", 3, family="plots")
    together, alone = (
        {record.pair_id: record.captions for record in open_dataset(tmp_path / name).records}
        for name in ("all", "plots")
    )
    assert len(alone) == 6
    assert alone.items() <= together.items()


def test_families_take_turns_and_each_split_has_both(tmp_path):
    draw(tmp_path / "set", 40, family="all")
    records = open_dataset(tmp_path / "set").records
    results = {(r.split, r.extra["family"], r.pair_id.partition("-")[0]) for r in records}
    assert {(split, name) for split, _, name in results} == {
        (split, name) for split in ("train", "val", "test") for name in ("pages", "plots")
    }


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"seed": 2}, "drawn with seed 1"),
        ({"size": (70, 70)}, "with size"),
        ({"changes": "several"}, "with changes 'mixed'"),
    ],
)
def test_another_set_is_not_mixed_in(tmp_path, other, message):
    draw(tmp_path / "set", 2)
    with pytest.raises(OutputError, match=message):
        draw(tmp_path / "set", 3, **other)


def test_a_set_that_was_drawn_before_there_was_a_choice_grows(tmp_path):
    draw(tmp_path / "set", 2)
    file = tmp_path / "set/drawing.json"
    settings = json.loads(file.read_text("utf-8"))
    assert settings.pop("changes") == "mixed"
    file.write_text(json.dumps(settings), encoding="utf-8")
    draw(tmp_path / "set", 6)
    draw(tmp_path / "once", 6)
    assert files(tmp_path / "set") == files(tmp_path / "once")


def test_what_is_no_set_stays_as_it_is(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "note.txt").write_text("keep", encoding="utf-8")
    with pytest.raises(OutputError, match="exists already"):
        draw(tmp_path / "mine", 1)
    (tmp_path / "mine" / "drawing.json").write_text("[", encoding="utf-8")
    with pytest.raises(OutputError, match="not the settings of a drawn set"):
        draw(tmp_path / "mine", 1)
    with pytest.raises(OutputError, match="is not there"):
        draw(tmp_path / "no" / "set", 1)
    with pytest.raises(OutputError, match="at least 64 pixels"):
        draw(tmp_path / "set", 1, size=(32, 100))
    assert find_world("screens").truth.exists(tmp_path / "mine") is False
