"""Makes the tables of recorded measurements that only the site shows; a checkout has one line for each."""

import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT))  # benchmarks is a package of the checkout, and is not installed

from benchmarks.record import RESULTS, read_results  # noqa: E402
from benchmarks.report import for_the_site, pages  # noqa: E402

_results = read_results(RESULTS)
_pages = pages()


@cache
def with_tables(markdown: str, source: str) -> str:
    """A page with the tables in the place of its marks. source: the page's path in the repository.

    A page that only tells of marks, as the one about benchmarks does, keeps them.
    """
    return markdown if ROOT / source not in _pages else for_the_site(markdown, _results, source)
