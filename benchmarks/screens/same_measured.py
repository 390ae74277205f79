"""Hashes the measured answers of many pairs. A change of the code that alters no answer keeps the hash.

    python -m benchmarks.screens.same_measured FOLDER [FOLDER ...] [--every N] [--keep FILE] [--against FILE]

A FOLDER holds ``pairs.jsonl`` with one line per pair that names ``id``, ``before`` and ``after``, as
``whatchanged synth screens`` and ``ui_train`` have it. The hash covers every field of ``measure``, unrounded.
``--every`` takes only each Nth pair. ``--keep`` also writes a hash of each pair, one line per pair.
``--against`` compares with such a file. If hashes differ, it prints the first of these pairs and ends with
exit code 1.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from whatchanged.errors import WhatchangedError
from whatchanged.measured import measure

SHOWN = 20
"""Pairs that differ of which the names are printed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the hash, and what differs from a kept file; the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--against", type=Path)
    options = parser.parse_args(arguments)
    lines = [line for folder in options.folders for line in hashes(folder, options.every)]
    text = "".join(f"{line}\n" for line in lines)
    print(f"{len(lines)} pairs: {hashlib.sha256(text.encode()).hexdigest()}")
    if options.keep:
        options.keep.write_text(text, encoding="utf-8")
    if options.against is None:
        return 0
    other = options.against.read_text(encoding="utf-8").splitlines()
    differing = sorted(set(lines) ^ set(other))
    for name in sorted({line.rpartition(" ")[0] for line in differing})[:SHOWN]:
        print(f"differs: {name}", file=sys.stderr)
    return int(bool(differing))


def hashes(folder: Path, every: int = 1) -> Iterator[str]:
    """For each Nth pair of a folder its name and the hash of what is measured of it."""
    with (folder / "pairs.jsonl").open(encoding="utf-8") as lines:
        for line in islice(lines, None, None, every):
            pair = json.loads(line)
            yield f"{pair['id']} {hash_of(folder / pair['before'], folder / pair['after'])}"


def hash_of(before: Path, after: Path) -> str:
    """SHA-256 of every field that is measured of a pair, or of the message with which it is refused."""
    try:
        fields = asdict(measure(before, after))
    except WhatchangedError as error:
        fields = {"error": str(error)}
    return hashlib.sha256(json.dumps(fields, sort_keys=True, default=_plain).encode()).hexdigest()


def _plain(value: object) -> object:
    """A number of NumPy's as one of Python's, digit by digit."""
    return value.item() if hasattr(value, "item") else repr(value)


if __name__ == "__main__":
    sys.exit(main())
