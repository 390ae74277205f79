"""Draws the ten pairs of docs/start/ten-changes.md: seven pages, two plots and a document.

    python tools/draw_ten.py docs/start/ten

Each pair has one change that was made by hand. ``old/`` and ``new/`` hold its two pictures. A browser draws
the pages and the plots. typst typesets the document, a PDF file of two pages. The tool needs Chromium and the
extra ``screens``.
"""

from pathlib import Path

import typst
from draw_screens import draw_sides, find_browser, output_folder

SIZE = (480, 300)
"""Width and height of the pictures in pixels."""
STYLE = """
body { margin: 0; font: 15px/1.5 sans-serif; background: #ffffff; color: #1f2937; padding: 18px 24px }
h1 { font-size: 20px; margin: 0 0 10px }
button { border: 0; border-radius: 6px; color: white; background: #2563eb; padding: 8px 18px; font: inherit }
table { border-collapse: collapse }
td { border-bottom: 1px solid #d1d5db; padding: 6px 18px 6px 0 }
.card { border: 1px solid #d1d5db; border-radius: 8px; padding: 12px 16px; margin-bottom: 12px; width: 260px }
.over { position: fixed; left: 120px; top: 80px; width: 220px; padding: 16px; background: white;
        border-radius: 8px; box-shadow: 0 8px 30px rgb(0 0 0 / 40%) }
.shade { position: fixed; inset: 0; background: rgb(0 0 0 / 35%) }
"""
TRAINS = [("Bergen", "07:59", "on time"), ("Narvik", "09:12", "on time"), ("Oslo", "10:40", "12 min late")]
SALES = (34, 52, 41, 68, 57)
DOCUMENT = """
#set page(width: 360pt, height: 240pt, margin: 28pt)
#set text(size: 12pt)
= Terms of delivery
Orders before noon leave the same day. Returns are free within COUNT days of the delivery.

The warranty covers two years.
#pagebreak()
= Contact
Write to the shop at any time. We answer within one working day.
"""


def bars(values: tuple[int, ...], highest: int) -> str:
    """A bar plot with a vertical axis from 0 to ``highest``."""
    parts = []
    for k in range(5):
        level = 220 - 45 * k
        parts.append(f'<line x1="60" x2="440" y1="{level}" y2="{level}" stroke="#e5e7eb"/>')
        parts.append(
            f'<text x="50" y="{level + 5}" text-anchor="end" font-size="13">{highest * k // 4}</text>'
        )
    for k, value in enumerate(values):
        height = 180 * value / highest
        parts.append(
            f'<rect x="{80 + 72 * k}" y="{220 - height:g}" width="44" height="{height:g}" fill="#4c78a8"/>'
        )
        parts.append(
            f'<text x="{102 + 72 * k}" y="240" text-anchor="middle" font-size="13">{2020 + k}</text>'
        )
    return f'<svg width="460" height="260">{"".join(parts)}</svg>'


def pages(changed: bool) -> dict[str, str]:
    """Return the HTML of every page and plot, before or after its change, by name."""
    trains = [*TRAINS[:2], ("Trondheim", "09:45", "on time"), TRAINS[2]] if changed else TRAINS
    rows = "".join(f"<tr><td>{place}<td>{time}<td>{state}</tr>" for place, time, state in trains)
    dialog = "<div class=shade></div><div class=over>Delete this file?<p><button>Delete</button></div>"
    radius = ' style="border-radius: 20px"' if changed else ""
    bold = ' style="font-weight: 700"' if changed else ""
    label = "Sign out" if changed else "Log out"
    checked = "checked" if changed else ""
    bodies = {
        "01-label": f"<h1>Account</h1><p>Signed in as anna</p><button>{label}</button>",
        "02-row": f"<h1>Departures</h1><table>{rows}</table>",
        "03-dialog": f"<h1>Files</h1><p>report.pdf<br>notes.txt<br>photo.png</p>{dialog if changed else ''}",
        "04-checked": f"<h1>Letters</h1><p><input type=checkbox {checked}> Send me news</p>",
        "05-bolder": f"<h1>Help</h1><p{bold}>Orders before noon are sent at once.<p>Returns are free.",
        "06-corners": f"<h1>Plan</h1><div class=card{radius}>Basic<br>3 users</div><p>Change at any time.",
        "07-card": "<h1>Team</h1><div class=card>Ada Nilsen</div>"
        + ("" if changed else "<div class=card>Ben Okafor</div>"),
        "08-bar": bars((34, 52, 41, 84, 57) if changed else SALES, 100),
        "09-axis": bars(SALES, 200 if changed else 100),
    }
    head = f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>"
    return {name: head + body for name, body in bodies.items()}


def write_document(path: Path, days: int) -> None:
    """Typeset the document. days: the number in its second sentence."""
    path.write_bytes(typst.compile(DOCUMENT.replace("COUNT", str(days)).encode()))


def main() -> None:
    """Draw all pairs into OUT/old and OUT/new."""
    out = output_folder(__doc__)
    draw_sides(find_browser(), pages, out, SIZE)
    for side, days in (("old", 14), ("new", 30)):
        write_document(out / side / "10-terms.pdf", days)


if __name__ == "__main__":
    main()
