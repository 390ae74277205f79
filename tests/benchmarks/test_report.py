"""The pages say what the recorded measurements say."""

import dataclasses
import json
import re

import pytest

from benchmarks.record import ROOT
from benchmarks.report import pages

SCRIPT = "report"


@pytest.fixture
def results(bench):
    return bench.read_results()


def test_the_pages_are_up_to_date_with_the_records(bench, capsys):
    assert bench.main(["--check"]) == 0, capsys.readouterr().err


def test_every_record_is_shown_by_a_page(bench, results):
    assert set(results) <= set().union(*(bench.shown_records(page.read_text()) for page in bench.pages()))


def test_a_mark_that_cannot_be_filled_is_told_with_its_page(bench, monkeypatch, tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("of <!--= demo: nowhere as , -->10<!--=--> pairs\n")
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    monkeypatch.setattr(bench, "pages", lambda: (page,))
    assert bench.main([]) == 1
    assert "page.md: figure 'demo: nowhere as ,'" in capsys.readouterr().err
    assert "-->10<!--=-->" in page.read_text()


def test_a_record_that_no_page_shows_fails_the_check(bench, results, monkeypatch, capsys):
    lonely = dataclasses.replace(results["demo"], name="lonely")
    monkeypatch.setattr(bench, "read_results", lambda _: {**results, "lonely": lonely})
    monkeypatch.setattr(bench, "filled", lambda page, *_: (page, []))
    assert bench.main(["--check"]) == 1
    assert "lonely.json is shown by no page" in capsys.readouterr().err


def test_a_changed_figure_makes_a_page_stale(bench, results):
    figures = json.loads(json.dumps(results["demo"].figures))
    figures["right"] -= 1
    page = "x <!--= demo: right as , -->10<!--=--> y\n\n<!-- figures demo sentences -->\n<!-- end -->\n"
    page, _ = bench.filled(page, results)
    assert bench.filled(page, results) == (page, [])
    results["demo"] = dataclasses.replace(results["demo"], figures=figures)
    after, stale = bench.filled(page, results)
    assert sorted(stale) == ["demo sentences", "demo: right as ,"]
    assert "9 of 10 sentences" in after and "-->9<!--=--> y" in after
    assert bench.filled(after, results) == (after, [])


def test_below_its_first_table_of_a_page_stands_a_record_with_commit_and_command(bench, results):
    page = "<!-- figures demo sentences -->\n<!-- end -->\n" * 2
    after, _ = bench.filled(page, results, "docs/results/x.md")
    about = f"commit {results['demo'].commit[:9]}, {results['demo'].date}, `whatchanged demo`"
    assert after.count(f"*From [demo](../../benchmarks/results/demo.json), {about}*") == 1


def test_a_table_for_the_site_is_a_line_in_the_checkout_and_a_table_on_the_site(bench, results):
    page = "before\n\n<!-- on the site demo sentences: Ten sentences -->\n<!-- end -->\n\n"
    page += "after <!--= demo: of as , -->x<!--=-->\n"
    here, _ = bench.filled(page, results, "docs/results/x.md")
    assert "*[On the site](how.md#long-tables) only: Ten sentences (" in here
    assert "([demo](../../benchmarks/results/demo.json)).*" in here and "|" not in here
    there = bench.for_the_site(here, results, "docs/results/x.md")
    assert '??? note "Ten sentences"\n\n    10 of 10' in there and "    | 1 | the large" in there
    assert there.endswith("after 10\n") and "<!--" not in there


def test_one_mark_may_show_several_tables_of_a_record(bench, results):
    both = bench.section("strange tables, tables", results)
    assert both == "\n\n".join([bench.section("strange tables", results)] * 2)
    with pytest.raises(ValueError, match="strange has the views"):
        bench.section("strange tables, nothing", results)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page, marks=[pytest.mark.slow] if page.stem == "papers" else []
        )  # thousands of resamples
        for page in pages()
        if "<!-- on the site" in page.read_text(encoding="utf-8")
    ],
    ids=lambda page: page.stem,
)
def test_every_table_that_the_checkout_leaves_out_can_be_made(page, bench, results):
    text, place = page.read_text(encoding="utf-8"), page.relative_to(ROOT).as_posix()
    there = bench.for_the_site(text, results, place)
    assert "on the site" not in re.findall(r"<!-- ([a-z ]+)", there)
    assert there.count("??? note") == sum(m["kind"] == "on the site" for m in bench.MARKED.finditer(text))


def test_results_md_is_one_screen(bench):
    assert len(bench.PAGE.read_text(encoding="utf-8").splitlines()) <= 60


def test_a_long_table_and_a_figure_at_the_start_of_a_line_are_told(bench):
    row = "| a | b |\n"
    short = "<!-- figures x y -->\n" + row + "| --- | --- |\n" + row * bench.MOST_ROWS
    assert list(bench.faults(short)) == []
    assert "21 rows" in "".join(bench.faults(short + row))
    assert "begins a line" in "".join(bench.faults("- <!--= demo: of as , -->10<!--=--> pairs"))
    assert list(bench.faults("- of <!--= demo: of as , -->10<!--=--> pairs")) == []


@pytest.mark.parametrize(
    ("mark", "words"), [("nothing table", "nothing.json"), ("demo references", "demo has the views")]
)
def test_a_mark_that_names_nothing_is_refused(mark, words, bench, results):
    with pytest.raises(ValueError, match=words):
        bench.section(mark, results)
    for kind, title in (("figures", ""), ("on the site", ": x")):
        with pytest.raises(ValueError, match=words):
            bench.filled(f"<!-- {kind} {mark}{title} -->\n<!-- end -->", results)
