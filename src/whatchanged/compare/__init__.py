"""Compare many pairs at once: match, answer and group them, and write the results; see `comparison.py`."""
