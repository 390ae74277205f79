import base64
import hashlib
import re
from pathlib import Path

import pytest
from support.page_html import PageHtml

from whatchanged.errors import OutputError
from whatchanged.page import Badge, Group, Page, Pair, render, write_page

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)><!--<script>&amp;\u2028\"'é"


def hostile_page():
    """A page each of whose texts comes from a stranger."""
    change = {"kind": HOSTILE, "sentence": HOSTILE, "box_before": [0, 0, 1, 1], "box_after": None}
    line = {"caption": HOSTILE, "verdict": HOSTILE, "answer": HOSTILE, "changes": [change], "error": HOSTILE}
    pair = Pair(
        HOSTILE,
        Path("/d") / HOSTILE.replace("/", ":"),
        Path("/d/after.png"),
        line,
        references=(HOSTILE, "half \ud800"),
        badges=[Badge(HOSTILE)],
        facts=[HOSTILE],
        tags={HOSTILE: HOSTILE},
    )
    return Page(
        title=HOSTILE,
        pairs=[pair],
        summary=[HOSTILE],
        tables=[(HOSTILE, [[HOSTILE, HOSTILE], [HOSTILE, HOSTILE]])],
        notes=[HOSTILE],
        groups=[Group(HOSTILE, [0])],
        orders={HOSTILE: [0]},
    )


def test_strangers_words_stay_words():
    text = render(hostile_page(), Path("/d/out"))
    text.encode("utf-8")
    found = PageHtml(text)
    assert len(found.named("script")) == 2 and found.named("img") == []
    assert not [name for _, attributes in found.tags for name in attributes if name.startswith("on")]
    # title, heading, summary, table's title, four cells, note; and the table's name for those who hear it
    assert found.text.count(HOSTILE) == 9
    (pair,) = found.pairs
    assert pair["caption"] == pair["id"] == pair["verdict"] == pair["error"] == HOSTILE
    assert pair["references"] == [HOSTILE, "half \ud800"] and pair["tags"] == {HOSTILE: HOSTILE}
    assert pair["changes"][0]["sentence"] == found.data["groups"][0]["sentence"] == HOSTILE
    assert not re.search(r"[<>\"']", pair["pictures"][0]["src"])
    # the script builds text, never markup
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|setHTML", found.scripts[1]
    )


def test_half_a_surrogate_in_the_title_can_be_written(tmp_path):
    write_page(tmp_path / "page.html", Page("half \ud800", []))
    assert "half \\ud800" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_nothing_is_loaded_from_elsewhere():
    line = {"caption": "see http://example.org"}
    text = render(Page("t", [Pair("1", Path("/d/a.png"), None, line)]), Path("/d"))
    found = PageHtml(text)
    assert not [a for _, attributes in found.tags for a in attributes if a in ("src", "href", "style")]
    policy = next(a["content"] for a in found.named("meta") if "http-equiv" in a)
    assert policy.startswith("default-src 'none'; img-src 'self' file: data:;")
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
    for name, content in (("style", style), ("script", found.scripts[1])):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert "url(" not in style and "@import" not in style


def test_tables_and_groups():
    page = Page(
        "t",
        [Pair("a", None, None), Pair("b", None, None)],
        tables=[("Counts", [["", "pairs"], ["changed", "1"], ["noise", "2"]])],
        groups=[Group("moved down", (1, 0), odd=(1,)), Group("noise", (), closed=True)],
        orders={"worst first": [1, 0]},
    )
    found = PageHtml(render(page, Path("/d")))
    assert found.rows == [["", "pairs"], ["changed", "1"], ["noise", "2"]]
    # on a narrow screen each cell stands below the other, beside the head of its column
    assert [cell["data-head"] for cell in found.named("td")] == ["pairs", "pairs"]
    assert found.data["groups"] == [
        {"sentence": "moved down", "members": [1, 0], "odd": [1], "closed": False},
        {"sentence": "noise", "members": [], "odd": [], "closed": True},
    ]
    assert found.data["orders"] == [{"label": "worst first", "places": [1, 0]}]


def test_what_cannot_be_written_leaves_the_old_page(tmp_path, pictures, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")
    monkeypatch.setattr("whatchanged.page.pictures.MOST_BYTES", 100)
    page = Page("t", [Pair("1", *pictures)])
    with pytest.raises(OutputError, match="inside the page are more than"):
        write_page(path, page, embed=True)
    assert path.read_text() == "old"
    write_page(path, page)  # linked pictures do not count
    assert "before.png" in path.read_text()
    with pytest.raises(OutputError, match="cannot be written"):
        write_page(tmp_path / "no" / "page.html", page)


def test_the_example_of_the_docs_writes_a_page(tmp_path, monkeypatch):
    docs = Path(__file__).parents[2] / "docs" / "page.md"
    (example,) = re.findall(r"```python\n(.*?)```", docs.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, str(docs), "exec"), {})
    found = PageHtml((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert [pair["pictures"][0]["src"] for pair in found.pairs] == ["old/login.png"]
    assert [group["sentence"] for group in found.data["groups"]] == ["Buttons are green."]
