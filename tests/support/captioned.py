"""What ``whatchanged caption`` wrote."""

import json


def lines(path):
    """The lines of a file of captions."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
