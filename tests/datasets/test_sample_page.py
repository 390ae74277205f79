from pathlib import Path

import pytest
from support.page_html import PageHtml
from support.tiny_sets import clevr_change, cub, spot_the_diff, write

from whatchanged.datasets import open_dataset
from whatchanged.datasets.sample_page import sample_page, spread
from whatchanged.datasets.statistics import summarise
from whatchanged.page import Badge, render


def page_of(root, samples=12, **options):
    opened = open_dataset(root, **options)
    return sample_page(opened, summarise(opened.records), samples)


def test_every_split_has_its_samples_and_its_counts(tmp_path):
    clevr_change(tmp_path)
    page = page_of(tmp_path)
    assert len(page.pairs) == 4 and page.summary == [str(tmp_path)]
    assert sorted(place for group in page.groups for place in group.members) == [0, 1, 2, 3]
    ((_, rows),) = page.tables
    wanted = [f"from the {row[1]} of the {row[0]} split" for row in rows[1:]]
    assert [group.sentence for group in page.groups] == wanted
    for group in page.groups:
        assert {page.pairs[place].tags["split"] for place in group.members} == {group.sentence.split()[-2]}
    kinds = [badge for pair in page.pairs for badge in pair.badges]
    assert kinds.count(Badge("none")) == 2 and Badge("add") in kinds and Badge("drop") in kinds


def test_boxes_are_those_of_the_records(tmp_path):
    """The box 1, 2, 3, 4 (x, y, width, height): left, top, right, bottom."""
    clevr_change(tmp_path)
    boxes = [box for pair in page_of(tmp_path).pairs for box in pair.boxes if box is not None]
    assert (1, 2, 4, 6) in boxes and len(boxes) == 2


def test_what_comes_from_the_data_set_is_text(tmp_path):
    spot_the_diff(tmp_path)
    evil = '<script>alert(1)</script>"&'
    write(tmp_path / "annotations/test.json", [{"img_id": "1", "sentences": [evil]}])
    html = PageHtml(render(page_of(tmp_path), tmp_path))
    assert [evil] in [pair.get("references") for pair in html.pairs] and len(html.scripts) == 2


def test_single_pictures_their_class_and_a_broken_one(tmp_path):
    cub(tmp_path)
    broken = next(Path(tmp_path).rglob("Laysan*.jpg"))
    broken.write_bytes(b"no picture")
    page = page_of(tmp_path)
    assert all(pair.after is None for pair in page.pairs)
    assert any("class 002.Laysan_Albatross" in pair.facts for pair in page.pairs)
    assert any("no captions" in pair.facts for pair in page.pairs)
    shown = [pair["pictures"][0] for pair in PageHtml(render(page, tmp_path, embed=True)).pairs]
    assert ["this is not a picture" in source.get("why", "") for source in shown].count(True) == 1


def test_samples_are_spread_evenly():
    assert spread(list(range(10)), 3) == [1, 5, 8]
    assert spread(list(range(3)), 5) == [0, 1, 2]


@pytest.mark.parametrize("embed", [False, True])
def test_the_command_writes_it_once(tmp_path, whatchanged, embed):
    clevr_change(tmp_path / "set")
    out = tmp_path / "page.html"
    more = ["--embed"] if embed else []
    code, text, err = whatchanged("dataset", tmp_path / "set", "--html", out, "--samples", 1, *more)
    assert code == 0 and f"{out}: sample pairs written" in err and "4 pairs" in text
    pairs = PageHtml(out.read_text()).pairs
    sources = [picture["src"] for pair in pairs for picture in pair["pictures"]]
    assert len(pairs) == 2 and len(sources) == 4
    assert all(source.startswith("data:image/" if embed else "set/") for source in sources)
    code, text, err = whatchanged("dataset", tmp_path / "set", "--html", out)
    assert (code, text) == (2, "") and "exists already" in err
    assert whatchanged("dataset", tmp_path / "set", "--html", out, "--force")[0] == 0
