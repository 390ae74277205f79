import json

import pytest
from support.page_html import PageHtml

SEPARATOR = "of two\u2028lines"


@pytest.fixture
def pairs(tmp_path, pictures):
    """Three pairs with references; the pictures of the last one are no pictures."""
    (tmp_path / "broken.png").write_bytes(b"no picture")
    rows = [
        {"id": SEPARATOR, "before": "before.png", "after": "after.png", "captions": ["a reference"]},
        {"id": "same", "before": "before.png", "after": "before.png"},
        {"id": "broken", "before": "before.png", "after": "broken.png"},
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_page_shows_every_line(caption, pairs, tmp_path):
    out, page, maps = tmp_path / "out.jsonl", tmp_path / "page.html", tmp_path / "maps"
    assert caption(pairs, "-o", out, "--html", page, "--attention", maps)[0] == 1
    lines = [json.loads(line) for line in out.read_bytes().rstrip(b"\n").split(b"\n")]
    shown = PageHtml(page.read_text(encoding="utf-8")).pairs
    assert [pair["id"] for pair in shown] == [line["id"] for line in lines] == [SEPARATOR, "same", "broken"]
    for name in ("caption", "no_change", "verdict", "answer", "error"):
        assert [pair.get(name) for pair in shown] == [line.get(name) for line in lines]
    assert shown[0]["references"] == ["a reference"] and "references" not in shown[1]
    assert [picture["src"] for picture in shown[0]["pictures"]] == ["before.png", "after.png"]
    assert shown[0]["outlines"][1] != ["", ""] and "outlines" not in shown[2]


def test_nothing_to_embed_into(caption, whatchanged, pairs, tmp_path):
    out = tmp_path / "out.jsonl"
    for code, _, err in (
        caption(pairs, "-o", out, "--embed"),
        whatchanged("dataset", pairs, "--embed"),
        whatchanged("evaluate", out, pairs, "--embed"),
    ):
        assert code == 2 and "no page is asked for" in err
    assert not out.exists()


def test_a_resumed_run_shows_all_of_it(caption, pairs, tmp_path):
    out, page = tmp_path / "out.jsonl", tmp_path / "page.html"
    caption(pairs, "-o", out, "--html", page, "--embed")
    whole = PageHtml(page.read_text()).pairs
    assert whole[0]["pictures"][0]["src"].startswith("data:image/png;base64,")
    out.write_bytes(out.read_bytes().split(b"\n")[0] + b"\n")
    caption(pairs, "-o", out, "--html", page, "--embed", "--resume")
    assert PageHtml(page.read_text()).pairs == whole and len(whole) == 3


def test_a_page_that_cannot_be_written_is_told_before_anything_is_done(caption, pairs, tmp_path):
    out, page = tmp_path / "out.jsonl", tmp_path / "page.html"
    page.write_text("mine")
    code, _, err = caption(pairs, "-o", out, "--html", page)
    assert code == 2 and "exists already" in err and page.read_text() == "mine"
    for place, why in ((out, "one of the inputs or outputs"), (pairs, "exists already")):
        code, _, err = caption(pairs, "-o", out, "--html", place)
        assert code == 2 and why in err
    code, _, err = caption(pairs, "-o", out, "--html", tmp_path / "before.png", "--force")
    assert code == 2 and "a picture of the list" in err
    assert caption(pairs, "-o", out, "--html", tmp_path / "no" / "page.html")[0] == 2
    assert not out.exists()


def test_a_shard_without_a_pair(caption, pairs, tmp_path):
    out, page = tmp_path / "out.jsonl", tmp_path / "page.html"
    code, _, err = caption(pairs, "-o", out, "--html", page, "--shard", "1/5")
    assert code == 0 and "0 pairs captioned" in err
    assert out.read_bytes() == b"" and PageHtml(page.read_text(encoding="utf-8")).pairs == []
