"""Scores the shipped model's sentences on a data set folder by every metric of ``whatchanged evaluate``.

    python -m benchmarks.clevr.shipped DATASET [--model MODEL] [--attention] [--drawn COMMAND] [--record NAME]
    python -m benchmarks.clevr.shipped demo [--record NAME]

runs ``whatchanged caption`` and ``whatchanged evaluate`` (or ``whatchanged demo``) and prints their tables.
MODEL is a name or a folder. ``--attention`` plays the pointing game as well; the data set needs boxes for it.
``--drawn`` is the command that drew the data set, to be recorded with the result.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.record import Watch, add_record_option, typed, write_result
from whatchanged.captioner.bundle import DEFAULT


def main() -> None:
    """Caption, score, record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", type=Path, help="a data set folder, or: demo")
    parser.add_argument("--model")
    parser.add_argument("--attention", action="store_true")
    parser.add_argument("--drawn", metavar="COMMAND")
    add_record_option(parser, "shipped")
    options = parser.parse_args()
    if options.attention and options.model is None:
        options.model = DEFAULT  # maps are kept of a named model
    chosen = [] if options.model is None else ["--model", options.model]
    with Watch() as watch:
        if str(options.dataset) == "demo":
            kind, commands, figures = "demo", [["demo", *chosen]], demo(chosen)
        else:
            kind = "evaluation"
            commands, figures = evaluation(options.dataset, chosen, options.attention)
    if options.record:
        spoken = [typed("whatchanged", *command) for command in commands]
        drawn = [options.drawn] if options.drawn else []
        drawn_seed = re.search(r"--seed (\d+)", options.drawn or "")
        seeds = {} if drawn_seed is None else {"pictures": int(drawn_seed[1])}
        if kind == "evaluation":
            seeds["resampling"] = figures["signature"]["intervals"]["seed"]
        path = write_result(
            options.record, kind, figures, watch=watch, command=[*drawn, *spoken], seeds=seeds
        )
        print(path)


def evaluation(dataset: Path, chosen: list[str], attention: bool) -> tuple[list[list[str]], dict[str, Any]]:
    """The two commands, and the report of the second with the count of warnings of the first."""
    with tempfile.TemporaryDirectory() as folder:
        out, report = Path(folder) / "out.jsonl", Path(folder) / "report.json"
        maps = ["--attention", str(Path(folder) / "maps")] if attention else []
        caption = ["caption", str(dataset), "-o", str(out), *chosen, *maps]
        score = ["evaluate", str(out), str(dataset), *maps]
        whatchanged(*caption, "--quiet")
        print(whatchanged(*score, "--json", str(report)))
        predictions = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        figures = json.loads(report.read_text(encoding="utf-8"))
    figures["unfamiliar"] = {
        "count": sum(bool(p.get("unfamiliar")) for p in predictions),
        "of": len(predictions),
    }
    return [caption, score], figures


def demo(chosen: list[str]) -> dict[str, Any]:
    """The sentences of the shipped pairs and which of them are wholly true."""
    said = whatchanged("demo", *chosen)
    print(said)
    rows = re.findall(r"^ *\d+  (right|WRONG)  (.*)$", said, re.MULTILINE)
    sentences = [{"sentence": sentence, "right": judged == "right"} for judged, sentence in rows]
    return {"right": sum(row["right"] for row in sentences), "of": len(sentences), "sentences": sentences}


def whatchanged(*arguments: str) -> str:
    """What a command prints; ends the program with the command's message where it fails."""
    done = subprocess.run([sys.executable, "-m", "whatchanged", *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


if __name__ == "__main__":
    main()
