"""Writes the recorded measurements into the result pages, and into every page that quotes a figure.

    python -m benchmarks.report            write tables and figures into the pages
    python -m benchmarks.report --check    exit code 1 if a page is not what the records say

Three marks are read in ``RESULTS.md``, ``README.md`` and every page below ``docs/``. NAME is a file of
``benchmarks/results`` without ``.json``. VIEW is one of the views of its kind (``VIEWS``), or several with
commas. A table of several records has a name of its own (``ACROSS``), which stands in the place of both.

    <!-- figures NAME VIEW -->                   the table stands in the page, and below it its record
    <!-- on the site NAME VIEW: TITLE -->        one line stands in the page; when the site is built, it shows
                                                 the table in its place (``for_the_site``)
    <!--= NAME: PATH as FORMAT -->61 %<!--=-->   one figure within a sentence (``figures.py``)

What stands between the first two marks and ``<!-- end -->`` is replaced. ``--check`` also fails where no mark
shows a record, and where a table in a page of tables has more than ``MOST_ROWS`` rows.
"""

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

from benchmarks.across import ACROSS
from benchmarks.figures import figure
from benchmarks.record import RESULTS, ROOT, Result, read_results
from benchmarks.views import VIEWS
from whatchanged.files import write_output

PAGE = ROOT / "RESULTS.md"
MARKED = re.compile(
    r"<!-- (?P<kind>figures|on the site) (?P<view>[^:>]*?)(?:: (?P<title>[^>]*?))? -->\n"
    r"(?P<old>.*?)<!-- end -->",
    re.DOTALL,
)
QUOTED = re.compile(r"<!--= (?P<key>[^>]*?) -->(?P<old>.*?)<!--=-->", re.DOTALL)
LINK = re.compile(r"\]\(((?:benchmarks|docs)/[^)#\s]*)")
MOST_ROWS = 20
"""Rows of a table that stands in a page; a longer one is shown on the site."""
LONG = "docs/results/how.md#long-tables"
"""What says where a long table is."""
LONGEST_COMMAND = 200
"""Characters of the commands that are repeated below a table; longer ones stand in its record alone."""


def pages() -> tuple[Path, ...]:
    """The pages that may hold marks."""
    return (PAGE, ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the pages; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args(arguments)
    results, wrong, shown = read_results(RESULTS), [], set()
    for page in pages():
        before, place = page.read_text(encoding="utf-8"), page.relative_to(ROOT).as_posix()
        shown |= shown_records(before)
        try:
            after, stale = filled(before, results, place)
        except ValueError as error:
            wrong.append(f"{place}: {error}")
            continue
        wrong += [f"{place}: {fault}" for fault in faults(after)]
        if given.check:
            wrong += [f"{place}: {mark!r} is not what benchmarks/results says" for mark in stale]
        elif stale:
            write_output(page, after)
    wrong += [f"benchmarks/results/{name}.json is shown by no page" for name in sorted({*results} - shown)]
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    if wrong and given.check:
        print("Run: python -m benchmarks.report", file=sys.stderr)
    return int(bool(wrong))


def filled(page: str, results: Mapping[str, Result], place: str = "RESULTS.md") -> tuple[str, list[str]]:
    """The page with every mark filled anew, and the marks that were not up to date.

    place: its path in the repository, from which its links lead.
    """
    stale, told = [], set[str]()

    def block(found: re.Match[str]) -> str:
        view = found["view"]
        if found["kind"] == "figures":
            text = section(view, results)
            names = [name for name in records_of(view) if name not in told]
            told.update(names)
            text += "\n\n" + source(view, names, results) if names or files_of(view) else ""
        else:
            makers(view, results)  # the mark must name something; the table is made for the site
            links = ", ".join(f"[{name}](benchmarks/results/{name}.json)" for name in records_of(view))
            text = f"*[On the site]({LONG}) only: {found['title']}{f' ({links})' if links else ''}.*"
        new = f"\n{from_page(text, place)}\n\n"
        if found["old"] != new:
            stale.append(view)
        return f"{found[0].partition('-->')[0]}-->\n{new}<!-- end -->"

    def one(found: re.Match[str]) -> str:
        new = figure(results, found["key"])
        if found["old"] != new:
            stale.append(found["key"])
        return f"<!--= {found['key']} -->{new}<!--=-->"

    return QUOTED.sub(one, MARKED.sub(block, page)), stale


def for_the_site(page: str, results: Mapping[str, Result], place: str) -> str:
    """The page as the site shows it: with the tables that the checkout leaves out, each folded."""

    def table(found: re.Match[str]) -> str:
        if found["kind"] == "figures":
            return found["old"]
        view = found["view"]
        text = section(view, results)
        if records_of(view):
            text += "\n\n" + source(view, records_of(view), results)
        lines = from_page(text, place).splitlines()
        return "\n".join(
            [f'??? note "{found["title"]}"', "", *(line and f"    {line}" for line in lines), ""]
        )

    return QUOTED.sub(lambda found: found["old"], MARKED.sub(table, page))


def section(view: str, results: Mapping[str, Result]) -> str:
    """The table of one mark, or its tables; raises ValueError where there is no such record or view."""
    return "\n\n".join(make() for make in makers(view, results))


def makers(view: str, results: Mapping[str, Result]) -> list[Callable[[], str]]:
    """What makes the tables of one mark; raises ValueError where there is no such record or view."""
    if view in ACROSS:
        return [partial(ACROSS[view].table, results)]
    name, _, wanted = view.partition(" ")
    if name not in results:
        raise ValueError(f"figures {view}: there is no benchmarks/results/{name}.json")
    views = VIEWS.get(results[name].kind, {})
    if not set(wanted.split(", ")) <= set(views):
        raise ValueError(f"figures {view}: {results[name].kind} has the views {', '.join(views)}")
    return [partial(views[each], results[name]) for each in wanted.split(", ")]


def records_of(view: str) -> Sequence[str]:
    """The records that a mark's table is made of."""
    return ACROSS[view].records if view in ACROSS else [view.partition(" ")[0]]


def files_of(view: str) -> Sequence[str]:
    """The other files that a mark's table is made of."""
    return ACROSS[view].files if view in ACROSS else ()


def shown_records(page: str) -> set[str]:
    """The records that a page shows, as a table or as a figure."""
    views = [found["view"] for found in MARKED.finditer(page)]
    figures = [found["key"].partition(":")[0] for found in QUOTED.finditer(page)]  # "verdicts" is no record
    return {*figures, *(name for view in views for name in records_of(view))}


def source(view: str, names: Sequence[str], results: Mapping[str, Result]) -> str:
    """The line below a table: its records, each with its commit, date and short commands."""
    made: dict[str, list[str]] = {}
    for name in names:
        result = results[name]
        commit = result.commit[:9] + (" and changes" if result.changed else "")
        link = f"[{name}](benchmarks/results/{name}.json)"
        made.setdefault(f"commit {commit}, {result.date}", []).append(link)
    told = [f"{', '.join(links)}, {when}" for when, links in made.items()]
    commands = ", ".join(f"`{command}`" for name in names for command in results[name].command)
    if len(names) == 1 and len(commands) <= LONGEST_COMMAND:
        told = [f"{told[0]}, {commands}"]
    told += [f"[{PurePosixPath(path).name}]({path})" for path in files_of(view)]
    return f"*From {'; '.join(told)}*"


def from_page(text: str, place: str) -> str:
    """A text whose links lead from the root of the repository, with links that lead from a page's folder."""
    folder = PurePosixPath(place).parent
    return LINK.sub(lambda found: f"]({os.path.relpath(found[1], folder)}", text)


def faults(page: str) -> Iterator[str]:
    """What to say of tables that have more rows than may stand in a page, and of marks in wrong places."""
    if "<!-- figures " in page:
        for found in re.finditer(r"(?:^\|.*\n)+", page, re.MULTILINE):
            head, _, rows = found[0].partition("\n")
            count = rows.count("\n") - 1
            if count > MOST_ROWS:
                yield f"the table {head} has {count} rows, more than {MOST_ROWS}: mark it as on the site"
    for found in re.finditer(r"^\s*(?:[-*] +)?<!--= ([^>]*) -->", page, re.MULTILINE):
        yield f"the figure {found[1]!r} begins a line, which Markdown takes for HTML: put a word before it"


if __name__ == "__main__":
    sys.exit(main())
