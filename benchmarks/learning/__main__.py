"""``python -m benchmarks.learning``: see ``curves.py``."""

from benchmarks.learning.curves import main

if __name__ == "__main__":
    main()
