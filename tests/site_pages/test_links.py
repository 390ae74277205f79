"""Links of pages to what lies outside docs/."""

import re
from pathlib import Path

import pytest
from site_pages.links import Links
from site_pages.sources import MADE_FROM
from site_pages.sources import ROOT_PAGES as ROOT_PAGES_OF_THE_SITE

ROOT = Path(__file__).parents[2]
ROOT_PAGES = {"RESULTS.md": "results.md", "benchmarks/README.md": "benchmarks.md", "tools": "made/tools.md"}


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
        ("docs/own.md", "[m](../tools#why)", "[m](made/tools.md#why)"),
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


WRITTEN = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md")), ROOT / "benchmarks" / "README.md"]
"""What a person reads in a checkout."""


def anchors(markdown):
    """What a heading is called in a link, as GitHub and the site say it."""
    text = re.sub(r"^```.*?^```", "", markdown, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+?)\s*$", text, re.MULTILINE)
    plain = [re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading)) for heading in plain}


def dead(page, markdown):
    """The links of a page that lead nowhere in a checkout; anchors of Markdown files count."""
    results = []
    for found in re.finditer(r"\]\(([^)\s#]*)(#[^)\s]*)?\)", markdown):
        link, anchor = found.groups()
        if ":" in link:
            continue
        target = page.parent / link if link else page
        if not target.exists():
            results.append(link)
        elif anchor and target.suffix == ".md":
            text = markdown if target == page else target.read_text(encoding="utf-8")
            results += [] if anchor[1:] in anchors(text) else [f"{link}{anchor}"]
    return results


@pytest.mark.parametrize("page", WRITTEN, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_link_is_dead_in_the_checkout(page):
    assert dead(page, page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "page", [page for page in WRITTEN if page.name != "README.md" or page.parent != ROOT]
)
def test_no_page_of_the_site_links_a_folder_of_docs(page):
    """The site has pages there, and none of the folder."""
    links = re.findall(r"\]\(([^)\s#:]+)", page.read_text(encoding="utf-8"))
    targets = [(page.parent / link).resolve() for link in links]
    assert [target for target in targets if target.is_dir() and ROOT / "docs" in target.parents] == []


def test_what_a_dead_link_is(tmp_path):
    (tmp_path / "there.md").write_text("# A `b`: c\n\n```\n# no heading\n```\n")
    page = tmp_path / "own.md"
    page.write_text(
        "[a](there.md#a-b-c) [b](there.md#no-heading) [c](gone.md) [d](#here) [e](http://x.org)\n# Here\n"
    )
    assert dead(page, page.read_text()) == ["there.md#no-heading", "gone.md"]


def test_what_leads_out_of_docs_comes_with_the_site_or_has_a_page():
    links = Links(ROOT, ROOT_PAGES_OF_THE_SITE | MADE_FROM)
    for page in ROOT.glob("docs/**/*.md"):
        source = page.relative_to(ROOT).as_posix()
        links.rewrite(page.read_text(encoding="utf-8"), source)
    assert links.linked and all(path.exists() for path in links.linked.values())


def test_every_page_that_is_made_has_its_source():
    assert all((ROOT / source).exists() for source in MADE_FROM)
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    assert all(f": {page}\n" in nav for page in (ROOT_PAGES_OF_THE_SITE | MADE_FROM).values())
