"""Draws the pictures of README.md: screens of a small application, and the page that compares them.

    python tools/draw_readme.py docs/pictures

It draws nine screens before (old/) and after (new/) a change: four buttons have another colour, a bar and its
number grew, a date is later, a badge is gone, one text has moved by a third of a pixel, one screen is the
same. ``report.png`` shows the page that ``whatchanged compare`` writes about them in a browser. The tool
needs Chromium, and the extra ``text``, which reads the words that the sentences quote.
"""

from draw_screens import draw_report, draw_sides, find_browser, output_folder

SCREEN = (560, 290)
REPORT = (1100, 1440)
"""Width and height of the pictures."""
OLD, NEW = "#2563eb", "#15803d"
"""The colours of the buttons."""
STYLE = """
* { box-sizing: border-box }
body { margin: 0; font: 14px/1.5 sans-serif; background: #f8fafc; color: #0f172a; display: flex }
nav { width: 128px; height: 100vh; background: #0f172a; color: #cbd5e1; padding: 16px 14px; line-height: 2.1 }
nav b { color: white; display: block; margin-bottom: 8px; font-size: 16px }
main { flex: 1; padding: 18px 22px }
h1 { font-size: 19px; margin: 0 0 14px; display: flex; justify-content: space-between; align-items: center }
button { border: 0; border-radius: 6px; color: white; background: BUTTON; padding: 7px 16px; font: inherit }
table { border-collapse: collapse; background: white; width: 100% }
td { border-bottom: 1px solid #e2e8f0; padding: 8px 12px }
input { border: 1px solid #94a3b8; border-radius: 5px; padding: 6px 10px; width: 240px; font: inherit }
label { display: block; margin-bottom: 12px }
label input { display: block; margin-top: 2px }
.card { background: white; border: 1px solid #e2e8f0; border-radius: 8px; padding: 10px 16px }
.cards { display: flex; gap: 12px; margin-bottom: 12px }
.cards .card { flex: 1 }
.cards b { display: block; font-size: 20px }
.badge { background: #fee2e2; color: #991b1b; border-radius: 10px; padding: 2px 10px; font-size: 12px }
"""
MENU = "<nav><b>Ledger</b>Overview<br>Invoices<br>Customers<br>Products<br>Settings<br>Help</nav>"
CUSTOMERS = [
    ("Ada Nilsen", "Oslo", "12 orders"),
    ("Ben Okafor", "Lagos", "7 orders"),
    ("Chen Li", "Hangzhou", "31 orders"),
]
INVOICES = [
    ("1041", "Ada Nilsen", "320.00"),
    ("1042", "Chen Li", "1,250.00"),
    ("1043", "Ben Okafor", "98.50"),
]
PRODUCTS = [("Desk lamp", "49.00", "14"), ("Office chair", "189.00", "2"), ("Notebook, A5", "4.20", "260")]


def table(rows: list[tuple[str, str, str]]) -> str:
    """Rows of cells."""
    return "<table>" + "".join("<tr><td>" + "<td>".join(row) for row in rows) + "</table>"


def bars(heights: list[int]) -> str:
    """A chart of bars that stand on a line; their heights in pixels."""
    drawn = "".join(
        f"<rect x={20 + 58 * place} y={94 - height} width=36 height={height} fill=#38bdf8 />"
        for place, height in enumerate(heights)
    )
    return f"<svg width=360 height=98>{drawn}<path d='M8 94H352' stroke=#64748b /></svg>"


def fields(values: dict[str, str], button: str) -> str:
    """A form: labels with what stands in their fields, and a button."""
    rows = "".join(f"<label>{label}<input value='{value}'></label>" for label, value in values.items())
    return f"{rows}<button>{button}</button>"


def pages(changed: bool) -> dict[str, str]:
    """Name -> HTML of every screen, before or after the change."""
    sales, last = ("8,120", 88) if changed else ("7,940", 50)
    due = "2 June 2026" if changed else "19 May 2026"
    badge = "" if changed else "<span class=badge>3 low in stock</span>"
    shift = " style='transform: translate(0.33px, 0)'" if changed else ""
    totals = f"<div class=card>Sales<b>{sales}</b></div><div class=card>Orders<b>214</b></div>"
    chart = bars([36, 62, 44, 70, 56, last])
    bodies = {
        "customers": f"<h1>Customers<button>Add customer</button></h1>{table(CUSTOMERS)}",
        "help": f"<h1>Help</h1><p{shift}>Invoices are sent at noon.<br>Write to us at any time.</p>",
        "invoice": f"<h1>Invoice 1042</h1><div class=card>Chen Li<br>Amount: 1,250.00<br>Due: {due}</div>",
        "invoices": f"<h1>Invoices<button>New invoice</button></h1>{table(INVOICES)}",
        "overview": f"<h1>Overview</h1><div class=cards>{totals}</div><div class=card>{chart}</div>",
        "products": f"<h1>Products{badge}</h1>{table(PRODUCTS)}",
        "profile": "<h1>Maria Lind</h1><div class=card>Accountant since 2019<br>Stockholm</div>",
        "settings": f"<h1>Settings</h1>{fields({'Company': 'Lind and Sons', 'Currency': 'Euro'}, 'Save')}",
        "sign-in": f"<h1>Welcome back</h1>{fields({'Name': 'maria', 'Password': '********'}, 'Sign in')}",
    }
    style = STYLE.replace("BUTTON", NEW if changed else OLD)
    head = f"<!doctype html><meta charset=utf-8><style>{style}</style>{MENU}"
    return {name: f"{head}<main>{body}</main>" for name, body in bodies.items()}


def main() -> None:
    """Draw the screens into OUT/old and OUT/new, compare them, and draw the page of that comparison."""
    out = output_folder(__doc__)
    browser = find_browser()
    draw_sides(browser, pages, out, SCREEN)
    draw_report(browser, out, out / "report.png", REPORT)


if __name__ == "__main__":
    main()
