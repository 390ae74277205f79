"""Draws the screens of docs/start/ten-minutes.md with a browser:

    python tools/draw_screens.py docs/start/pictures

It draws six screens of a small shop, before (old/) and after (new/) a change: the buttons have another
colour, the price list has lost a line, one screen's text has moved by a third of a pixel, one screen is the
same. ``report.png`` beside the folder shows the page that ``whatchanged compare`` writes about them. The tool
needs Chromium, and the extra ``text``, which reads the words that the sentences quote.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

SIZE = (480, 300)
REPORT = (1100, 720)
"""Width and height of the pictures."""
STYLE = """
body { margin: 0; font: 15px/1.5 sans-serif; background: #f6f7f9; color: #1d2433 }
header { background: #1d2433; color: white; padding: 10px 20px; font-weight: bold }
main { padding: 14px 20px }
h1 { font-size: 19px; margin: 0 0 8px }
button { border: 0; border-radius: 5px; color: white; background: BUTTON; padding: 8px 18px; font: inherit }
input { width: 260px; padding: 6px; border: 1px solid #b8bfcc; border-radius: 4px; margin-bottom: 10px }
table { border-collapse: collapse; background: white }
td { border: 1px solid #d6dae2; padding: 5px 16px }
"""
OLD, NEW = "#1a73e8", "#0b8043"
"""The colours of the buttons."""
PRICES = [("Apples, 1 kg", "2.40"), ("Bread", "3.10"), ("Cheese, 200 g", "4.20"), ("Milk, 1 l", "1.15")]


def pages(changed: bool) -> dict[str, str]:
    """Name -> HTML of every screen, before or after the change."""
    rows = [row for row in PRICES if not (changed and row[0] == "Milk, 1 l")]
    table = "".join(f"<tr><td>{name}<td>{price}</tr>" for name, price in rows)
    shift = ' style="transform: translate(0.33px, 0)"' if changed else ""
    bodies = {
        "cart": "<h1>Your cart</h1><p>3 articles, 7.55 in all</p><button>Pay</button>",
        "help": f"<h1>Help</h1><p{shift}>Orders before noon are sent at once.<br>Returns are free.</p>",
        "login": "<h1>Sign in</h1><input value='anna'><br><input value='******'><br><button>Sign in</button>",
        "prices": f"<h1>Prices</h1><table>{table}</table>",
        "profile": "<h1>Anna Lind</h1><p>Customer since 2019<br>14 orders</p>",
        "settings": "<h1>Settings</h1><p>Letters: weekly<br>Language: English</p><button>Save</button>",
    }
    style = STYLE.replace("BUTTON", NEW if changed else OLD)
    head = f"<!doctype html><meta charset=utf-8><style>{style}</style><header>Corner shop</header>"
    return {name: f"{head}<main>{body}</main>" for name, body in bodies.items()}


def main() -> None:
    """Draw all screens into OUT/old and OUT/new, and the page that compares them."""
    out = output_folder(__doc__)
    browser = find_browser()
    draw_sides(browser, pages, out, SIZE)
    draw_report(browser, out, out.parent / "report.png", REPORT)


def output_folder(description: str) -> Path:
    """The folder that the command line names. description: what ``--help`` prints."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "out", metavar="OUT", type=Path, help="folder for the pictures; it is made if missing"
    )
    return parser.parse_args().out


def find_browser() -> str:
    """The program of an installed browser."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("No browser found. Install chromium.")
    return browser


def draw(browser: str, text: str, picture: Path, size: tuple[int, int]) -> None:
    """One page as a picture. size: width and height in pixels."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(text, encoding="utf-8")
        options = [
            "--headless",
            "--no-sandbox",
            "--hide-scrollbars",
            f"--window-size={size[0]},{size[1]}",
            f"--screenshot={picture.resolve()}",
        ]
        subprocess.run([browser, *options, page.as_uri()], check=True, capture_output=True, timeout=120)


def draw_sides(
    browser: str, pages: Callable[[bool], Mapping[str, str]], out: Path, size: tuple[int, int]
) -> None:
    """All pages before the change into OUT/old and after it into OUT/new. pages: name -> HTML of one side."""
    for folder, changed in (("old", False), ("new", True)):
        (out / folder).mkdir(parents=True, exist_ok=True)
        for name, text in pages(changed).items():
            draw(browser, text, out / folder / f"{name}.png", size)


def draw_report(browser: str, pictures: Path, report: Path, size: tuple[int, int]) -> None:
    """The page that compares PICTURES/old with PICTURES/new, as a picture. size: width, height in pixels."""
    with tempfile.TemporaryDirectory() as folder:
        for side in ("old", "new"):
            shutil.copytree(pictures / side, Path(folder) / side)
        command = [sys.executable, "-P", "-m", "whatchanged", "compare", "old", "new", "-o", "report"]
        subprocess.run([*command, "--fail-on", "never", "--embed", "--read-text"], cwd=folder, check=True)
        page = (Path(folder) / "report" / "index.html").read_text(encoding="utf-8")
    draw(browser, page, report, size)


if __name__ == "__main__":
    main()
