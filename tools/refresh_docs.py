"""Run the commands of the pages and the notebooks, and write what they print into them:

    python tools/refresh_docs.py                    # the pages, and the two notebooks that take seconds
    python tools/refresh_docs.py --train            # the notebook that trains, too: minutes

It needs the extras docs, train and scale, and ``whatchanged`` and ``python`` of this checkout on the path.
Look at what changed before you commit it.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from site_pages.notebooks import refresh
from site_pages.transcripts import rewritten

DOCS = Path(__file__).parents[1] / "docs"
START = DOCS / "start"
NOTEBOOKS = ("describe-and-compare", "evaluate-your-captions")
TRAINS = "train-and-export"


def main() -> None:
    """The pages, then the notebooks."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        shutil.copytree(DOCS / "pictures", folder / "readme" / "docs" / "pictures")
        refresh_page(DOCS.parent / "README.md", folder / "readme")
        shop = shutil.copytree(START / "pictures", folder / "shop")
        refresh_page(START / "ten-minutes.md", shop)
        shutil.copy(shop / "where.png", START / "where.png")
        for page in (START / "hour.md", DOCS / "scale.md", DOCS / "from-download-to-table.md"):
            (folder / page.stem).mkdir()
            refresh_page(page, folder / page.stem)
    for name in (*NOTEBOOKS, *([TRAINS] if "--train" in sys.argv[1:] else [])):
        refresh(DOCS / "notebooks" / f"{name}.ipynb")


def refresh_page(page: Path, folder: Path) -> None:
    """One page, its commands run in ``folder``."""
    page.write_text(rewritten(page.read_text(encoding="utf-8"), folder), encoding="utf-8")


if __name__ == "__main__":
    main()
