import json
import shlex
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from support.page_html import PageHtml

from whatchanged.synth.clevr.sampling import sample_triple
from whatchanged.synth.clevr.truth import triple_entries
from whatchanged.worlds.clevr import world
from whatchanged.worlds.clevr.change import NOTHING, SceneChange


@pytest.fixture
def demo_folder(tmp_path, monkeypatch, pictures):
    """Two pairs: a distractor of equal pictures, and a change that the small model cannot name."""
    folder = tmp_path / "demo"
    folder.mkdir()
    triple = sample_triple(5, 0)
    entries, _ = triple_entries(triple, 60, 40)
    pairs = []
    for i, (after, entry, change) in enumerate(
        ((pictures[0], entries[2], NOTHING), (pictures[1], entries[1], triple.change))
    ):
        for name, source in ((f"{i}-b.png", pictures[0]), (f"{i}-a.png", after)):
            (folder / name).write_bytes(source.read_bytes())
        pairs.append(
            {
                "before": f"{i}-b.png",
                "after": f"{i}-a.png",
                "scene_before": entries[0],
                "scene_after": entry,
                "change": fields(change),
            }
        )
    (folder / "demo.json").write_text(json.dumps({"pairs": pairs}))
    monkeypatch.setattr(world, "WORLD", replace(world.WORLD, demo=replace(world.WORLD.demo, folder=folder)))
    return folder


def fields(change: SceneChange):
    return {"type": change.type, "changed_before": change.before, "changed_after": change.after}


def test_sentences_are_judged(whatchanged, demo_folder, bundle_folder):
    code, out, _ = whatchanged("demo", "--model", bundle_folder)
    shown = out.splitlines()
    assert code == 0
    assert shown[0] == " 1  right  there is no change"
    assert shown[1] == " 2  WRONG  the square changed"
    assert shown[2].strip().startswith("true: the ") and "changed to" in shown[2]
    assert shown[3].startswith("1 of 2 sentences are wholly true")


def test_page(whatchanged, demo_folder, bundle_folder, tmp_path):
    page = tmp_path / "demo.html"
    assert whatchanged("demo", "--model", bundle_folder, "--html", page)[0] == 0
    text = page.read_text(encoding="utf-8")
    found = PageHtml(text)
    assert "1 of 2 sentences are wholly true" in found.text
    first, second = found.pairs
    assert first["badges"] == [["right", "good"]] and second["badges"] == [["wrong", "bad"]]
    assert "facts" not in first and second["facts"][0].startswith("true: the ")
    assert (first["caption"], second["caption"]) == ("there is no change", "the square changed")
    assert second["outlines"][1] != ["", ""]
    # needs nothing else
    sources = [picture["src"] for pair in found.pairs for picture in pair["pictures"]]
    assert len(sources) == 4 and all(source.startswith("data:image/png;base64,") for source in sources)
    code, _, err = whatchanged("demo", "--model", bundle_folder, "--html", page)
    assert code == 2 and "exists already" in err


def test_the_page_escapes_what_it_shows(whatchanged, demo_folder, bundle_folder, tmp_path):
    path = bundle_folder / "bundle.json"
    path.write_text(path.read_text().replace('"square"', '"<b>&\\""'))
    page = tmp_path / "demo.html"
    assert whatchanged("demo", "--model", bundle_folder, "--html", page)[0] == 0
    text = page.read_text()
    assert "<b>" not in text and '<b>&"' in PageHtml(text).pairs[1]["caption"]


def test_the_pairs_are_handed_out_to_try(whatchanged, demo_folder, bundle_folder, tmp_path):
    folder = tmp_path / "my pairs"
    code, out, _ = whatchanged("demo", "--model", bundle_folder, "--save", folder)
    assert code == 0 and out.startswith(f"2 pairs and pairs.csv in {folder}.")
    names = ["01-after.png", "01-before.png", "02-after.png", "02-before.png", "pairs.csv"]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert (folder / "02-after.png").read_bytes() == (demo_folder / "1-a.png").read_bytes()
    # The commands that it prints work as they stand.
    for line in out.splitlines()[1:]:
        arguments = [part.replace("captions.jsonl", f"{tmp_path}/c.jsonl") for part in shlex.split(line)[1:]]
        assert whatchanged(*arguments, "--model", bundle_folder, "--quiet")[0] == 0
    assert len((tmp_path / "c.jsonl").read_text().splitlines()) == 2


def test_pairs_are_saved_into_a_new_folder_only(whatchanged, demo_folder, bundle_folder, tmp_path):
    for place, told in (
        (tmp_path, "there already"),
        (tmp_path / "no" / "folder", "Make it first"),
    ):
        code, out, err = whatchanged("demo", "--model", bundle_folder, "--save", place)
        assert (code, out) == (2, "") and told in err
    code, _, err = whatchanged("demo", "--save", tmp_path / "new", "--html", tmp_path / "page.html")
    assert code == 2 and "leave out --html" in err
    (demo_folder / "1-a.png").unlink()
    before = sorted(tmp_path.iterdir())
    assert whatchanged("demo", "--model", bundle_folder, "--save", tmp_path / "new")[0] == 2
    assert sorted(tmp_path.iterdir()) == before  # nothing half-written


def test_a_spoiled_demo(whatchanged, demo_folder, bundle_folder):
    (demo_folder / "demo.json").write_text("{}")
    code, _, err = whatchanged("demo", "--model", bundle_folder)
    assert code == 2 and "demo.json" in err


def test_the_shipped_pairs_are_ten_small_pictures_with_their_truth():
    from whatchanged.cli.demo import demo_of, read_pairs

    shown, demonstration = demo_of("clevr")
    pairs = read_pairs(demonstration)
    assert shown.name == "clevr" and len(pairs) == 10
    kinds = [shown.truth.kind_of(pair.truth) for pair in pairs]
    assert set(kinds) == {"color", "material", "add", "drop", "move", "none"} and kinds.count("none") == 2
    for pair in pairs:
        with Image.open(pair.before) as before, Image.open(pair.after) as after:
            assert before.size == after.size == (240, 160)
            difference = np.asarray(before).astype(int) - np.asarray(after)
        assert np.abs(difference).mean() > 1


def test_a_folder_with_line_ends_in_its_name_begins_no_line_of_its_own(whatchanged, demo_folder, tmp_path):
    code, said, _ = whatchanged("demo", "--save", tmp_path / "a\r::warning::b\n::error::c")
    assert code == 0 and r"a\r::warning::b\n::error::c" in said
    assert len(said.splitlines()) == 3
