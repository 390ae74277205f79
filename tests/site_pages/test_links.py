"""Links of pages to what lies outside docs/."""

from pathlib import Path

import pytest
from site_pages.links import Links

ROOT_PAGES = {"RESULTS.md": "results.md", "benchmarks/README.md": "benchmarks.md"}


@pytest.fixture
def links(tmp_path):
    for place in ("docs/own.md", "tools/draw.py", "data/a.json", "data/b.json", "README.md", "RESULTS.md"):
        path = tmp_path / place
        path.parent.mkdir(exist_ok=True)
        path.write_text(place)
    return Links(tmp_path, ROOT_PAGES)


@pytest.mark.parametrize(
    ("source", "link", "wanted"),
    [
        ("docs/own.md", "[r](../RESULTS.md)", "[r](results.md)"),
        ("docs/own.md", "[r](../RESULTS.md#the-data)", "[r](results.md#the-data)"),
        ("docs/guides/near.md", "[r](../../RESULTS.md)", "[r](../results.md)"),
        ("docs/own.md", "[r](../README.md)", "[r](index.md)"),
        ("docs/own.md", "![d](picture.png)", "![d](picture.png)"),
        ("docs/guides/near.md", "[o](../own.md#a)", "[o](../own.md#a)"),
        ("RESULTS.md", "[o](docs/own.md#a)", "[o](own.md#a)"),
        ("benchmarks/README.md", "[r](../RESULTS.md)", "[r](results.md)"),
        ("docs/own.md", "[w](https://example.org/a.md)", "[w](https://example.org/a.md)"),
        ("docs/own.md", "[h](#here)", "[h](#here)"),
        ("docs/own.md", "[t](../tools/draw.py)", "[t](repository/tools/draw.py)"),
        ("docs/own.md", "[n](../tools/nothing.py)", "[n](../tools/nothing.py)"),
        ("docs/own.md", "[n](../../secret.txt)", "[n](../../secret.txt)"),
    ],
)
def test_a_link_leads_to_the_page_of_the_site(links, source, link, wanted):
    assert links.rewrite(f"See {link}.", source) == f"See {wanted}."


def test_a_linked_file_comes_with_the_site(links):
    links.rewrite("[t](../tools/draw.py) and [n](../nothing.py)", "docs/own.md")
    assert links.linked == {"repository/tools/draw.py": links.root / "tools" / "draw.py"}


def test_a_linked_folder_comes_with_its_files_and_a_list_of_them(links):
    assert links.rewrite("[d](data)", "RESULTS.md") == "[d](repository/data/index.html)"
    assert set(links.linked) == {f"repository/data/{name}" for name in ("index.html", "a.json", "b.json")}
    listing = links.listing(links.root / "data")
    assert listing.count("<li>") == 2 and '<a href="b.json">' in listing


def test_every_link_of_the_repository_out_of_docs_leads_somewhere():
    root = Path(__file__).parents[2]
    links = Links(root, ROOT_PAGES)
    for page in root.glob("docs/**/*.md"):
        source = page.relative_to(root).as_posix()
        links.rewrite(page.read_text(encoding="utf-8"), source)
    assert links.linked and all(path.exists() for path in links.linked.values())
