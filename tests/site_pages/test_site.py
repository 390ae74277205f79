"""The site, built as the project builds it: strictly."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs", reason="needs the extra docs")
pytest.importorskip("material", reason="needs the extra docs")
pytest.importorskip("mkdocs_jupyter", reason="needs the extra docs")

from site_pages.python_names import python_pages, undocumented

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
FETCHED = re.compile(
    r'<(?:script|img|iframe|source)[^>]*\ssrc="(?:https?:)?//|<link[^>]*\shref="(?:https?:)?//'
)
"""What a browser would load from another host."""


def build(config, out):
    """What a strict build prints; it must succeed."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "-d", str(out)]
    path = {"PYTHONPATH": str(ROOT / "src"), "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, env=os.environ | path, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site") / "site"
    done = build(ROOT / "mkdocs.yml", out)
    assert done.returncode == 0, done.stderr[-6000:]
    return out


def pages(site):
    """Every page but the one that a web server shows for a wrong address, from whatever folder."""
    results = (path for path in sorted(site.rglob("*.html")) if path.name != "404.html")
    return {path: path.read_text(encoding="utf-8") for path in results}


def test_every_section_has_its_pages(site):
    for place in ("index", "start/models", "guides/near-enough", "reference/commands", "promises"):
        assert (site / f"{place}.html").is_file()
    for place in ("reference/python/describe", "notebooks/train-and-export", "background/tokens", "results"):
        assert (site / f"{place}.html").is_file()
    assert "clevr-pcl" in (site / "start" / "models.html").read_text(encoding="utf-8")


def test_the_long_tables_of_results_are_there(site):
    clevr = (site / "results" / "clevr.html").read_text(encoding="utf-8")
    assert "there is no change" in clevr and clevr.count("<details") > 8
    assert ">On the site<" not in clevr and "<!--=" not in clevr
    looks = (site / "results" / "looked-at.html").read_text(encoding="utf-8")
    assert looks.count("<li>The ") > 20


def test_nothing_is_fetched_from_another_host(site):
    found = pages(site)
    assert len(found) > 40
    assert {str(path): FETCHED.search(text)[0] for path, text in found.items() if FETCHED.search(text)} == {}


def test_links_within_the_site_lead_to_files(site):
    broken = []
    for path, text in pages(site).items():
        for link in re.findall(r'(?:href|src)="([^"#?:]+)(?:#[^"]*)?"', text):
            if not (path.parent / link).exists():
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []


def test_the_search_works_from_a_disk_and_knows_what_a_person_asks_for(site):
    index = (site / "search" / "search_index.js").read_text(encoding="utf-8")
    documents = json.loads(index[index.index("{") :].rstrip().rstrip(";"))["docs"]
    assert (site / "search" / "search_index.js").is_file()
    for words in ("--exit-code", "CIDEr-D", "stage.caption.lr", "mirror_unless", "answer_batch"):
        assert any(words in document["text"] + document["title"] for document in documents), words


def test_a_broken_link_and_a_page_without_a_place_fail_the_build(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("# Here\n\n[there](there.md#nowhere)\n")
    (docs / "there.md").write_text("# There\n")
    rules = (
        (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nvalidation:")[2].partition("\nnav:")[0]
    )
    config = tmp_path / "mkdocs.yml"
    config.write_text(f"site_name: x\nplugins: []\nnav: [index.md]\nvalidation:{rules}")
    told = build(config, tmp_path / "out")
    assert told.returncode == 1
    assert "#nowhere" in told.stderr and "there.md" in told.stderr and "nav" in told.stderr


def test_a_public_name_without_a_docstring_is_told(tmp_path, monkeypatch):
    import griffe

    (tmp_path / "shown.py").write_text(
        '"""A module."""\nclass A:\n    """A class."""\n    def f(self): pass\n'
    )
    found = griffe.load("shown", search_paths=[str(tmp_path)])
    assert undocumented(found["A"]) == ["shown.A.f"]
    told = []
    assert "::: whatchanged.describe" in python_pages(told.append)["reference/python/describe.md"]
    assert told == []
