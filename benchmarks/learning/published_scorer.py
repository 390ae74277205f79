"""Records what runs at a published size reached: their scores by type and by overlap, and their curves.

    python -m benchmarks.learning.published_scorer --of NAME=RUN=REPORT ... [--record]

RUN is a run's folder (its metrics.jsonl and environment.json are read), REPORT what ``whatchanged evaluate
--json`` wrote of its captions. Each name gets two columns: CIDEr-D, and the share of wholly true sentences.
For pairs that did not change, the second is the share that was called unchanged.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.markdown import table
from benchmarks.record import add_record_option, write_result

PAPER = {
    "overall": 126.8,
    "semantic": 122.4,
    "color": 146.2,
    "material": 133.7,
    "add": 131.1,
    "drop": 133.9,
    "move": 92.2,
}
"""CIDEr of SCORER + CBR on the real data set (Tu et al., ICCV 2023, tables 1 and 2)."""
WORDS = {
    "overall": "all",
    "semantic": "changed",
    "distractor": "unchanged",
    "color": "color",
    "material": "material (texture)",
    "add": "added",
    "drop": "removed",
    "move": "moved",
}
COMMANDS = (
    "whatchanged synth clevr-change twin --scenes 8500 --seed 4321 --size 336x224 --workers 14",
    "whatchanged features twin f16 --backbone efficientnet-lite0-stride16 --device cuda --batch-size 128"
    " --workers 8",
    "whatchanged train scorer-clevr-paper --data twin --features f16 -o RUN --device cuda --workers 5"
    " --set vision.feature_width=112 --set stage.train.precision=bf16",
    "the same with --set method.difference=subtract --set method.view_weight=0 --set method.reason_weight=0",
    "whatchanged caption twin --split test --run RUN --features f16 --device cuda --checkpoint best"
    " --batch-size 256 -o captions.jsonl",
    "whatchanged evaluate captions.jsonl twin --split test --json REPORT --no-java --no-meteor"
    " --resamples 300",
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--of", action="append", required=True, metavar="NAME=RUN=REPORT")
    add_record_option(parser, "published_scorer")
    options = parser.parse_args()
    reports, runs = {}, {}
    for one in options.of:
        name, run, report = one.split("=")
        reports[name] = json.loads(Path(report).read_text(encoding="utf-8"))
        runs[name] = about(Path(run))
    rows = list(rows_of(reports))
    print(table(list(rows[0]), *([str(value) for value in row.values()] for row in rows)))
    if options.record:
        decimals = {name: 1 for row in rows for name, value in row.items() if isinstance(value, float)}
        figures = {"rows": rows, "decimals": decimals, "runs": runs}
        write_result(options.record, "rows", figures, command=COMMANDS)


def rows_of(reports: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each subset of the pairs."""
    first = next(iter(reports.values()))
    for subset, pairs in first["signature"]["pairs"].items():
        row: dict[str, Any] = {"pairs": WORDS.get(subset, subset), "count": pairs}
        for name, report in reports.items():
            row[f"CIDEr-D, {name}"] = _in(report, subset)["CIDEr-D"]
            row[f"right, %, {name}"] = right(report["scene"], subset)
        yield {**row, "CIDEr in the paper, real data": PAPER.get(subset)}


def _in(parts: Mapping[str, Any], subset: str) -> Any:
    """A subset's entry, which is a part of its own, or one of the types or overlaps."""
    return next(where[subset] for where in (parts, parts["types"], parts["overlap"]) if subset in where)


def right(scene: Mapping[str, Any], subset: str) -> float | None:
    """Wholly true sentences, or unchanged pairs called unchanged; None for both kinds of pairs together."""
    if subset == "overall":
        return None
    kind = "called_none" if subset == "distractor" else "true"
    share: float = _in(scene, subset)[kind]["percent"]
    return share


def about(run: Path) -> dict[str, Any]:
    """The device and the curve of a run: losses every 500 steps, and validation scores."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    environment = json.loads((run / "environment.json").read_text(encoding="utf-8"))
    losses = [line for line in lines if "caption" in line]
    return {
        "device": environment["device"],
        "packages": environment["packages"],
        "steps": losses[-1]["step"],
        "seconds": losses[-1]["seconds"],
        "losses": [line for line in losses if line["step"] % 500 == 0 or line is losses[-1]],
        "validation": [line for line in lines if "CIDEr-D" in line],
    }


if __name__ == "__main__":
    main()
