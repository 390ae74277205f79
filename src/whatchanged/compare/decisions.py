"""Read ``decisions.json``: a person's decisions about the pairs of a report, as saved by its page.

{"format": 1, "report": "<SHA-256 of results.jsonl>", "accept": ["home.png"], "reject": ["login.png"]}
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whatchanged.compare.ignore import read_document
from whatchanged.compare.record import Record
from whatchanged.errors import WhatchangedError

FORMAT = 1


@dataclass(frozen=True)
class Decisions:
    """The names of the accepted pairs and of the rejected pairs."""

    accept: tuple[str, ...]
    reject: tuple[str, ...]


def read_decisions(path: Path, record: Record) -> Decisions:
    """Return the decisions in a file.

    Raises WhatchangedError if the file is invalid or belongs to another report.
    """
    document = read_document(path)
    if document.get("format") != FORMAT:
        raise WhatchangedError(f"{path}: these are no decisions that a report's page saved.")
    if document.get("report") != record.results:
        raise WhatchangedError(
            f"{path}: these decisions are about another report, or the pictures were compared again since."
            " Look at the report's page, decide, and save them anew."
        )
    accept, reject = (_names(path, document, key) for key in ("accept", "reject"))
    both = set(accept) & set(reject)
    if both:
        raise WhatchangedError(f"{path}: {min(both)} is both accepted and rejected. Save the file anew.")
    known = {pair.pair_id for pair in record.pairs}
    strange = next((name for name in (*accept, *reject) if name not in known), None)
    if strange is not None:
        raise WhatchangedError(f"{path}: no pair of the report is called {strange}. Save the file anew.")
    return Decisions(accept, reject)


def _names(path: Path, document: dict[str, Any], key: str) -> tuple[str, ...]:
    """Return a list of names. Raises WhatchangedError if the value is not a list of names."""
    names = document.get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise WhatchangedError(f'{path}: "{key}" should be a list of names. Save the file anew.')
    return tuple(names)
