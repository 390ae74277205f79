"""``python tools/fit NAME ...``: fits, or shows, the constants of one part of the package.

colors       the ranges of a model's colours, in its card
gate         which differences are visible
groups       which pairs have the same cause of change
type_limits  the measures of the attributes of a line of text; it only prints them, since a person sets
             these limits
"""

import sys
from importlib import import_module
from pathlib import Path

TOOLS = ("colors", "gate", "groups", "type_limits")

sys.path[0] = str(Path(__file__).resolve().parents[1])

if __name__ == "__main__":
    name = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if name not in TOOLS:
        print(__doc__)
        sys.exit(0 if name in ("-h", "--help") else 2)
    sys.argv[:2] = [f"fit {name}"]
    import_module(f"fit.{name}").main()
