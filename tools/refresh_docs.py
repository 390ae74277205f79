"""Runs the commands of the pages and the notebooks, and writes their output into them:

    python tools/refresh_docs.py                    # the pages, and the two notebooks that take seconds
    python tools/refresh_docs.py --train            # also the notebook that trains, which takes minutes

It needs the extras docs, train and scale, and ``whatchanged`` and ``python`` of this checkout on the path.
Look at the differences before you commit them.
"""

import argparse
import shutil
import tempfile
from pathlib import Path

from site_pages.transcripts import rewritten

DOCS = Path(__file__).parents[1] / "docs"
START = DOCS / "start"
NOTEBOOKS = ("describe-and-compare", "evaluate-your-captions")
TRAINS = "train-and-export"


def main() -> None:
    """Refresh the pages, then the notebooks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--train", action="store_true", help="also run the notebook that trains")
    notebooks = (*NOTEBOOKS, TRAINS) if parser.parse_args().train else NOTEBOOKS
    from site_pages.notebooks import refresh  # needs the extra docs, which --help does not

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        shutil.copytree(DOCS / "pictures", folder / "readme" / "docs" / "pictures")
        refresh_page(DOCS.parent / "README.md", folder / "readme")
        shop = shutil.copytree(START / "pictures", folder / "shop")
        refresh_page(START / "ten-minutes.md", shop)
        shutil.copy(shop / "where.png", START / "where.png")
        refresh_page(START / "ten-changes.md", shutil.copytree(START / "ten", folder / "ten"))
        for page in (START / "hour.md", DOCS / "scale.md", DOCS / "from-download-to-table.md"):
            (folder / page.stem).mkdir()
            refresh_page(page, folder / page.stem)
    for name in notebooks:
        refresh(DOCS / "notebooks" / f"{name}.ipynb")


def refresh_page(page: Path, folder: Path) -> None:
    """Run a page's commands in ``folder``, and write their output into the page."""
    page.write_text(rewritten(page.read_text(encoding="utf-8"), folder), encoding="utf-8")


if __name__ == "__main__":
    main()
