"""``python tests/planted``: see ``suite.py``."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[0:1] = [str(HERE.parents[1]), str(HERE.parent)]  # the checkout, and the folder of the tests

from planted.suite import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
