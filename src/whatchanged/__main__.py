"""``python -m whatchanged``: the command line.

Python has put the working directory first among the folders in which it looks for modules. What is imported
from here on, and in workers, is not looked for there, unless this package lies there itself. What was
imported before may have been: ``python -P -m whatchanged`` and the program ``whatchanged`` never look there.
"""

import os  # there since Python started, as is sys
import sys

_here = os.getcwd()  # noqa: PTH109 - pathlib might be found in the working directory
_lies_here = __file__ == f"{_here}{os.sep}whatchanged{os.sep}__main__.py"
if sys.path[0] == _here and not (sys.flags.safe_path or _lies_here):
    del sys.path[0]

from whatchanged.cli import main  # noqa: E402 - the folders come first

main()
