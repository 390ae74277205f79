"""SPICE 1.0, by the original Java program. Users must supply its jars: no package contains them all."""

import json
import math
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import MetricUnavailable
from whatchanged.evaluation.metrics import java, ngrams
from whatchanged.json_values import read_json

HOME_VARIABLE = "WHATCHANGED_SPICE_HOME"
PATIENCE = 3 * 3600.0
"""Seconds for the run, in which every caption is parsed."""
_PROGRAM = "spice-1.0.jar"
_NEEDED = (_PROGRAM, "stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar")
_OPENED = (
    *(f"java.base/java.{part}" for part in ("lang", "util", "util.concurrent", "math", "text", "net")),
    "java.sql/java.sql",
)
"""Parts of Java that the program's libraries access; Java 16 and later allow that only with a flag."""


def spice(
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    home: Path | None = None,
) -> NDArray[np.float64]:
    """Return the F score of each pair (P,), in 0..1; the score of any subset is its mean.

    ``home``: the folder with the two jars of CoreNLP 3.6.0 that the reference package lacks (in it or in its
    ``lib``); None: $WHATCHANGED_SPICE_HOME, or else the reference package's own folder, into which its
    downloader puts them. Other jars in that folder are used too. Raises MetricUnavailable where jars are
    missing (with the way to get them) or the program fails; a missing SPICE is never 0. Source: Anderson et
    al., ECCV 2016; the program's F of "All" tuples, as the COCO caption evaluation.
    """
    ngrams.check(candidates, references)
    jars = find_jars(home)
    opened = [f"--add-opens={part}=ALL-UNNAMED" for part in _OPENED]
    with tempfile.TemporaryDirectory(prefix="spice-") as folder:
        questions, answers = Path(folder) / "in.json", Path(folder) / "out.json"
        entries = [
            {"image_id": str(i), "test": candidate, "refs": list(own)}
            for i, (candidate, own) in enumerate(zip(candidates, references, strict=True))
        ]
        questions.write_text(json.dumps(entries), encoding="utf-8")
        class_path = os.pathsep.join(map(str, jars))
        # The reference wrapper's cache is left out: it needs a native library that not every machine has.
        arguments = [*opened, "-Xmx8G", "-cp", class_path, "edu.anu.spice.SpiceScorer"]
        files = [str(questions), "-out", str(answers), "-silent"]
        java.run("SPICE", [*arguments, *files], Path(folder), PATIENCE)
        return _read(answers, len(candidates))


def find_jars(home: Path | None = None) -> tuple[Path, ...]:
    """Return the program's class path: the jars of ``home``, then those of the reference package, each name
    once.
    """
    chosen = home
    if chosen is None and os.environ.get(HOME_VARIABLE):
        chosen = Path(os.environ[HOME_VARIABLE])
    if chosen is not None and not chosen.is_dir():
        raise MetricUnavailable(f"SPICE: {chosen} is not a folder. {_how_to()}")
    package = java.reference_package("SPICE") / "spice"
    jars: dict[str, Path] = {}
    for folder in [package] if chosen is None else [chosen, package]:
        for jar in sorted([*folder.glob("*.jar"), *folder.glob("lib/*.jar")]):
            jars.setdefault(jar.name, jar.resolve())
    missing = [name for name in _NEEDED if name not in jars]
    if missing:
        where = "in no package" if chosen is None else f"not in {chosen}"
        raise MetricUnavailable(f"SPICE: {' and '.join(missing)}: {where}. {_how_to()}")
    return tuple(jars.values())


def _how_to() -> str:
    return (
        "Take the two jars out of Stanford CoreNLP's release 3.6.0 (stanford-corenlp-full-2015-12-09.zip, "
        f"385 MB, stanfordnlp.github.io/CoreNLP) and name their folder with --spice-home or ${HOME_VARIABLE}."
    )


def _read(path: Path, pairs: int) -> NDArray[np.float64]:
    try:
        results: Any = read_json(path.read_text(encoding="utf-8"))
        items = {str(entry["image_id"]): float(entry["scores"]["All"]["f"]) for entry in results}
        scores = [items[str(i)] for i in range(pairs)]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise MetricUnavailable(
            f"SPICE: the program's result cannot be used ({type(error).__name__}: {error})."
        ) from error
    if not all(map(math.isfinite, scores)):
        first = next(i for i, score in enumerate(scores) if not math.isfinite(score))
        raise MetricUnavailable(f"SPICE: the program gave no number for pair {first} (counted from 0).")
    return np.array(scores)
