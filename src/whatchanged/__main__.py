"""``python -m whatchanged``: the command line.

Python puts the working directory first in its module search path. This module removes the working directory
from that path, in this process and in worker processes. Otherwise an untrusted file in the working directory
could be imported. The working directory stays in the path only if this package itself is in the working
directory. Modules that Python imported earlier may still come from the working directory. ``python -P -m
whatchanged`` and the program ``whatchanged`` never search the working directory.
"""

import os  # there since Python started, as is sys
import sys

_here = os.getcwd()  # noqa: PTH109 - pathlib might be found in the working directory
_lies_here = __file__ == f"{_here}{os.sep}whatchanged{os.sep}__main__.py"
if sys.path[0] == _here and not (sys.flags.safe_path or _lies_here):
    del sys.path[0]

from whatchanged.cli import main  # noqa: E402 - the folders come first

main()
