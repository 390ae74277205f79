"""Gathers the runs of many commands of ``learning.py`` in ``benchmarks/results/learning.json``.

    data    what all runs are trained and validated on: how the pool, its tokens and the validation set were
            made, and a digest of the sentences
    tests   the same of each test set by its name, with what happened in each pair
    runs    each with its recipe, settings, rate, pairs, seed, processor, curve and scores; ``code`` lists the
            commits that it ran on, in the order of its launches

Row, rate, pairs, seed and settings identify a run. New runs are added to the recorded ones, wherever they
were trained, as long as their data are the same.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.learning.rows import METHODS, ROWS, method_of
from benchmarks.learning.scores import pairs_of
from benchmarks.record import RESULTS, command_line, read_result, write_result
from whatchanged.datasets import open_dataset
from whatchanged.errors import DatasetError, OutputError
from whatchanged.evaluation.metrics.truth import Truths, read_truths
from whatchanged.json_values import read_json
from whatchanged.records import PairRecord
from whatchanged.training.objects.pool import open_shards, read_description
from whatchanged.training.objects.token_files import read_origin

RATE = 1.5e-3
"""Of rows whose rate was not searched."""
SEARCHED = (7.5e-4, 1.5e-3, 3e-3)
"""The rates with which the search begins, the same for every method."""
LOWEST, HIGHEST = 9e-5, 2.5e-2
"""Between which it may go on."""
SEARCH_SEED = 100
"""The search has a seed that no other run has."""
CHOSEN_BY = "CIDEr-D"
"""The score of the last point of a curve, on validation pairs, that chooses the rate."""
Run = Mapping[str, Any]
Key = tuple[str, float, int, int, tuple[str, ...]]


@dataclass(frozen=True)
class Record:
    """All runs on the same data, and the commands that brought them."""

    data: Mapping[str, Any]
    tests: Mapping[str, Any] = field(default_factory=dict)
    runs: Sequence[Run] = ()
    commands: Sequence[str] = ()

    @property
    def by_key(self) -> dict[Key, Run]:
        """The runs by what tells them apart."""
        return {key_of(run): run for run in self.runs}

    def with_runs(self, tests: Mapping[str, Any], runs: Iterable[Run]) -> "Record":
        """These runs and test sets beside the recorded ones, in the order of the rows.

        A run that was recorded before is replaced; if its curve is the very same, its other tests stay.
        Raises OutputError where a test set of this name holds other pairs.
        """
        other = [name for name in tests if name in self.tests and self.tests[name] != tests[name]]
        if other:
            raise OutputError(
                f"the test set {other[0]} is another one than the recorded {other[0]}. Give it another name,"
                " or record under another name (--record NAME)."
            )
        results = self.by_key
        for run in runs:
            before = results.get(key_of(run), {})
            kept = before["tests"] if before and before["curve"] == run["curve"] else {}
            results[key_of(run)] = {**run, "tests": {**kept, **run["tests"]}}
        places = list(ROWS)
        ordered = sorted(results.values(), key=lambda run: (places.index(run["row"]), *key_of(run)[1:4]))
        return Record(self.data, {**self.tests, **tests}, ordered, self.commands)

    def write(self, name: str, folder: Path = RESULTS) -> Path:
        """As a result, with this command behind those that brought the earlier runs."""
        figures = {"data": self.data, "tests": self.tests, "runs": list(self.runs)}
        commands = list(dict.fromkeys([*self.commands, command_line()]))
        return write_result(name, "learning", figures, command=commands, folder=folder)


def key_of(run: Run) -> Key:
    """What tells a run from others."""
    return run["row"], run["rate"], run["pairs"], run["seed"], tuple(run["settings"])


def recorded(name: str, data: Mapping[str, Any], folder: Path = RESULTS) -> Record:
    """What is recorded under this name, or nothing. Raises OutputError where it is of other data."""
    file = folder / f"{name}.json"
    if not file.exists():
        return Record(data)
    result = read_result(file)
    figures = result.figures
    other = [part for part in data if figures["data"].get(part) != data[part]]
    if other:
        raise OutputError(
            f"{file}: its runs are of other data ({', '.join(other)}). Draw the same data, or record under"
            " another name: --record NAME."
        )
    return Record(figures["data"], figures["tests"], figures["runs"], result.command)


def data_of(pool: Path, tokens: Path, val: Path) -> dict[str, Any]:
    """What identifies the data that runs are trained and validated on."""
    scenes = sum(len(shard) for shard in open_shards(pool))
    origin = {key: value for key, value in (read_origin(tokens) or {}).items() if key != "pool"}
    val_set = described(val)
    return {
        "pool": {**read_description(pool), "scenes": scenes},
        "tokens": origin,
        "val": {key: val_set[key] for key in ("drawn", "pairs", "sha256")},
    }


def described(folder: Path) -> dict[str, Any]:
    """What identifies a data set with known scenes, and what happened in each pair.

    drawn: what ``whatchanged synth`` says of it, None where it says nothing. sha256: of ids and sentences.
    """
    records = open_dataset(folder, pictures=False).records
    truths = truths_of(folder, records)
    scenes = read_json((folder / "scenes.json").read_text(encoding="utf-8"))
    said = json.dumps([[record.pair_id, record.captions] for record in records])
    return {
        "drawn": scenes.get("info"),
        "pairs": len(records),
        "sha256": hashlib.sha256(said.encode()).hexdigest(),
        **pairs_of(records, truths),
    }


def truths_of(folder: Path, records: Sequence[PairRecord]) -> Truths:
    """The truth of all pairs of a data set. Raises DatasetError where a pair has none."""
    truths = read_truths(folder, records)
    if truths is None or any(record.pair_id not in truths.by_id for record in records):
        raise DatasetError(f"{folder}: not all of its pairs tell their scenes, so they cannot be judged.")
    return truths


def search_runs(runs: Iterable[Run], method: str) -> list[Run]:
    """The runs of a method's rate search, by rate."""
    own = [run for run in runs if run["row"] == method and run["seed"] == SEARCH_SEED]
    return sorted(own, key=lambda run: float(run["rate"]))


def best_rate(runs: Iterable[Run], row: str) -> float:
    """The rate whose search run ends with the best validation score; of equals the lowest.

    ``RATE`` where the rate of the row's method was not searched.
    """
    results = search_runs(runs, method_of(row))
    if not results:
        return RATE
    best = max(results, key=lambda run: (run["curve"][-1][CHOSEN_BY], -run["rate"]))
    return float(best["rate"])


def seconds_a_pair(runs: Sequence[Run], row: str) -> float | None:
    """Core seconds of a pair as recorded for the row, else for its method; None where neither was run."""
    for name in (row, method_of(row)):
        own = [run for run in runs if run["row"] == name]
        pairs = sum(run["pairs"] for run in own)
        if pairs:
            seconds: float = sum(run["curve"][-1]["seconds"] for run in own) / pairs
            return seconds
    return None


def core_hours(runs: Sequence[Run], rows: Sequence[str], seeds: int, pairs: int) -> float | None:
    """Hours of one core that these rows take, each with so many seeds; None where one cannot be told."""
    results = [seconds_a_pair(runs, row) for row in rows]
    known = [seconds for seconds in results if seconds is not None]
    return sum(known) * seeds * pairs / 3600 if len(known) == len(results) else None


def search_hours(runs: Sequence[Run], pairs: int) -> float | None:
    """Hours of one core that the search takes at so many pairs a run of the comparison."""
    return core_hours(runs, METHODS, len(SEARCHED), pairs)
