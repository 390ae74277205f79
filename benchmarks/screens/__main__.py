"""``python -m benchmarks.screens``: see ``real.py``."""

from benchmarks.screens.real import main

if __name__ == "__main__":
    main()
