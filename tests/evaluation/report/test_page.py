import base64
import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from whatchanged.evaluation.io.maps import AttentionMaps
from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.report.page import page
from whatchanged.evaluation.report.report import make_report
from whatchanged.evaluation.report.scored import Settings, score
from whatchanged.records import PairRecord

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


def made(records, predictions, folder=Path("/d/out")):
    report = make_report(score(records, predictions, Settings(resamples=0)))
    return page(report, HOSTILE, folder)


def pairs_of(text):
    return json.loads(Elements(text).scripts[0])["pairs"]


def test_strangers_words_stay_words():
    records = [replace(record(HOSTILE, (HOSTILE, "half \ud800"), change_type=HOSTILE), dataset=HOSTILE)]
    text = made(records, [Prediction(HOSTILE, HOSTILE)])
    text.encode("utf-8")
    found = Elements(text)
    assert [tag for tag, _ in found.tags].count("script") == 2 and len(found.scripts) == 2
    assert not [tag for tag, _ in found.tags if tag == "img"]
    # title, heading, the row of the kind in the table, two warnings of few pairs, data set in the signature
    assert found.text.count(HOSTILE) == 5
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


@pytest.mark.slow
def test_in_a_browser(tmp_path, pictures):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium here")
    records = [record(f"p{i}", (HOSTILE,), *pictures, change_type="move") for i in range(50)]
    records[7] = record(HOSTILE, ("b",), *pictures, change_type="add")
    said = [Prediction(r.pair_id, HOSTILE, 0.5) for r in records[:-1]]
    said.append(Prediction("p49", "b", 0.5))  # the worst
    maps = AttentionMaps({"p49": np.ones((2, 2, 3))}, (2, 3), "last", {"name": "m"})
    report = make_report(score(records, said, Settings(resamples=0), maps=maps))
    path = tmp_path / "page.html"
    path.write_text(page(report, "t", tmp_path), encoding="utf-8")
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000"]
    done = subprocess.run([browser, *flags, "--dump-dom", path.as_uri()], capture_output=True, timeout=120)
    found = Elements(done.stdout.decode())
    tags = [tag for tag, _ in found.tags]
    assert tags.count("article") in (40, 50)  # the rest comes when one scrolls
    images = [a for tag, a in found.tags if tag == "img"]
    assert images and all(a["src"] in ("before.png", "after.png") and "onerror" not in a for a in images)
    assert tags.count("canvas") == 2 and tags.count("script") == 2
    assert "50 of 50 pairs" in found.text and found.text.index("p49") < found.text.index("p12")
