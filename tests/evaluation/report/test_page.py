import base64
import hashlib
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.report.page import Shown, _packed, page
from whatchanged.records import PairRecord
from whatchanged.worlds.clevr.grading import Verdict

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)><!--<script>&amp;\u2028\"'é"


class Elements(HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.scripts, self.text, self._inside = [], [], "", None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts.append(data)
        elif self._inside != "style":
            self.text += data


def record(pair_id, captions=("a",), before=Path("/d/a b#1.png"), after=Path("/d/b.png"), **other):
    return PairRecord("plain", pair_id, pair_id, "test", "pair_caption", before, after, captions, **other)


def made(records, predictions, folder=Path("/d/out"), verdicts=None, **other):
    n = len(records)
    shown = Shown([50.0] * n, [12.3456] * n, verdicts or [None] * n, **other)
    tables = [(HOSTILE, [[HOSTILE, "x"], ["row", HOSTILE]])]
    return page(HOSTILE, tables, HOSTILE, records, predictions, shown, folder)


def pairs_of(text):
    return json.loads(Elements(text).scripts[0])["pairs"]


def test_strangers_words_stay_words():
    records = [record(HOSTILE, (HOSTILE, "half \ud800"), change_type="move")]
    text = made(records, [Prediction(HOSTILE, HOSTILE)])
    text.encode("utf-8")
    found = Elements(text)
    assert [tag for tag, _ in found.tags].count("script") == 2 and len(found.scripts) == 2
    assert not [tag for tag, _ in found.tags if tag == "img"]
    assert found.text.count(HOSTILE) == 6  # title, heading, caption of the table, two cells, note
    (pair,) = pairs_of(text)
    assert pair["caption"] == pair["id"] == HOSTILE and pair["references"] == [HOSTILE, "half \ud800"]
    # the script builds text, never markup
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval", found.scripts[1])


def test_nothing_is_loaded_from_elsewhere():
    text = made([record("1")], [Prediction("1", "see http://example.org")])
    found = Elements(text)
    assert not [a for _, attributes in found.tags for a in attributes if a in ("src", "href", "style")]
    policy = next(a["content"] for _, a in found.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; img-src 'self' file:;")
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
    for name, content in (("style", style), ("script", found.scripts[1])):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert "url(" not in style and "@import" not in style


def test_pictures_by_relative_path():
    records = [record("1"), record("2", before=Path("/d/javascript:x.png")), record("3", after=None)]
    found = pairs_of(made(records, [Prediction(r.pair_id, "a") for r in records]))
    assert found[0]["pictures"] == ["../a%20b%231.png", "../b.png"]
    assert found[1]["pictures"][0] == "../javascript%3Ax.png"
    assert "pictures" not in found[2]


def test_what_a_pair_shows():
    records = [
        record(
            "1", ("x", "y"), change_type="add", changed=True, boxes=(None, (1, 2, 3, 4)), viewpoint_iou=0.5
        ),
        record("2", viewpoint_iou=float("nan"), boxes=((0, 0, float("inf"), 1), None)),
        record("3"),
    ]
    said = [Prediction("1", "z", 0.25), Prediction("2", error="gone"), Prediction("3", "c")]
    verdicts = [Verdict(True, True, True, False, False), None, Verdict()]
    first, second, third = pairs_of(made(records, said, verdicts=verdicts))
    assert first == {
        "id": "1",
        "type": "add",
        "caption": "z",
        "error": None,
        "no_change": 0.25,
        "references": ["x", "y"],
        "overlap": 0.5,
        "grade": "false",
        "faults": ["phrase does not fit"],
        "pictures": ["../a%20b%231.png", "../b.png"],
        "boxes": [None, [1, 2, 3, 4]],
        "rouge": 50.0,
        "cider": 12.35,
    }
    assert (second["error"], second["caption"], second["grade"], second["overlap"]) == (
        "gone",
        "",
        None,
        None,
    )
    assert "boxes" not in second and third["grade"] == "unread"


def test_maps_of_those_that_have_them():
    maps = np.array([[[0, 0, 0]], [[0, 0.5, 1]]])
    text = made(
        [record("1"), record("2")], [Prediction("1"), Prediction("2")], heat=lambda _: maps, mapped={"2"}
    )
    first, second = pairs_of(text)
    assert "heat" not in first and second["heat"] == ["a3", "aip"]
    assert json.loads(Elements(text).scripts[0])["grid"] == [1, 3]


@given(arrays(np.float32, (2, 3, 4), elements=st.floats(0, 1, width=32)))
def test_packed_maps_unpack(maps):
    top = maps.max()
    for code, wanted in zip(_packed(maps), maps, strict=True):
        runs = re.findall(r"([a-p])(\d*)", code)
        levels = [ord(letter) - 97 for letter, count in runs for _ in range(int(count or 1))]
        assert len(levels) == wanted.size
        if top > 0:
            assert np.abs(np.array(levels) / 15 - wanted.ravel() / top).max() <= 1 / 30 + 1e-6


@pytest.mark.slow
def test_in_a_browser(tmp_path, pictures):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium here")
    records = [record(f"p{i}", (HOSTILE,), *pictures, change_type="move") for i in range(50)]
    records[7] = record(HOSTILE, ("b",), *pictures, change_type="add")
    said = [Prediction(r.pair_id, HOSTILE, 0.5) for r in records]
    shown = Shown(
        [50.0] * 50, [*map(float, range(50, 0, -1))], [None] * 50, lambda _: np.ones((2, 2, 3)), {"p49"}
    )
    path = tmp_path / "page.html"
    path.write_text(page("t", [], "n", records, said, shown, tmp_path), encoding="utf-8")
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000"]
    done = subprocess.run([browser, *flags, "--dump-dom", path.as_uri()], capture_output=True, timeout=120)
    found = Elements(done.stdout.decode())
    tags = [tag for tag, _ in found.tags]
    assert tags.count("article") in (40, 50)  # the rest comes when one scrolls
    images = [a for tag, a in found.tags if tag == "img"]
    assert images and all(a["src"] in ("before.png", "after.png") and "onerror" not in a for a in images)
    assert tags.count("canvas") == 2 and tags.count("script") == 2
    assert "50 of 50 pairs" in found.text and found.text.index("p49") < found.text.index("p48")
