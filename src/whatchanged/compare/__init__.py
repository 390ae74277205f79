"""Many pairs compared at once: matched, answered, grouped by what changed, written; see `comparison.py`."""
