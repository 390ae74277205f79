"""The HTML page of an evaluation: every pair with pictures, caption, references and scores, worst first.

The page is one file. It loads nothing but the pictures, which it links by relative path, each as it comes
into view, so that a page of 8,000 pairs opens at once. Text from predictions and references is embedded as
JSON that cannot end its element, and the script shows it as text, never as markup. A content security policy
allows only this page's own script and style, by their hashes.
"""

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whatchanged.evaluation.report.page_data import page_data
from whatchanged.evaluation.report.report import Report
from whatchanged.evaluation.report.tables import footer, tables

CONTROLS = """
<input type="search" id="text" placeholder="words in caption, references or id" aria-label="search">
<select id="type" aria-label="type of change"><option value="">all types</option></select>
<select id="grade" aria-label="truth"><option value="">true or not</option>
<option value="false">not true</option><option value="unread">unreadable</option>
<option value="true">true</option></select>
<select id="order" aria-label="order"><option value="cider">worst CIDEr-D first</option>
<option value="rouge">worst ROUGE-L first</option><option value="grade">not true first</option>
<option value="place">in order</option></select>
<label><input type="checkbox" id="heat" checked>heat maps</label>
<label><input type="checkbox" id="boxes" checked>boxes</label>
<span id="count" role="status"></span>
"""


def page(report: Report, title: str, folder: Path) -> str:
    """The page of a report, as it lies in ``folder``: the tables, then every pair."""
    style = _file_beside("page.css")
    script = _file_beside("page.js")
    policy = (
        f"default-src 'none'; img-src 'self' file:; style-src '{_hash(style)}'; "
        f"script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    head = "".join(_table(name, rows) for name, rows in tables(report))
    data = _inert(page_data(report.scored, folder))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{_text(title)}</title>
<style>{style}</style></head>
<body><header><h1>{_text(title)}</h1>
<details open><summary>Scores</summary><div class="scroll">{head}</div>
<p class="note">{_text(footer(report))}</p></details>
<noscript><p>The pairs are shown by this page's own script, which is switched off.</p></noscript></header>
<main><div id="controls">{CONTROLS}</div>
<div id="list"></div><div id="more"></div></main>
<script type="application/json" id="data">{data}</script>
<script>{script}</script></body></html>
"""


def _file_beside(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _inert(value: Any) -> str:
    """JSON that cannot end the element it stands in: ASCII, and neither < nor > nor &."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _table(title: str, rows: Sequence[Sequence[str]]) -> str:
    head, *body = rows
    cells = "".join(f"<th>{_text(cell)}</th>" for cell in head)
    lines = "".join("<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in body)
    return (
        f"<table><caption>{_text(title)}</caption><thead><tr>{cells}</tr></thead>"
        f"<tbody>{lines}</tbody></table>"
    )


def _text(text: str) -> str:
    """Text as markup; characters that UTF-8 cannot write are replaced."""
    return html.escape(text.encode("utf-8", "replace").decode("utf-8"))


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii")
