"""Trains ``pcl-pixels`` on drawn pairs of one set, and scores it on scenes of another.

    python -m benchmarks.clevr.pixels OUT --views fixed --scenes 472 --seed 71 --held 150 \
      --record pixels-fixed
    python -m benchmarks.clevr.pixels OUT --views jittered --scenes 1000 --seed 5201 --held 300 \
      --steps 12000 --record pixels-jittered

OUT gets the folders data and held (drawn at 240x160), run and model, and settings.json with the options.
Existing folders are kept, and an interrupted run is resumed. An OUT made with other options is refused,
because the result would be recorded with the wrong ones. ``--views`` places the later cameras: "fixed" at the
first camera's position, "jittered" near it, as in CLEVR-Change. The held-out scenes have the next seed.
Training uses one thread.
"""

import argparse
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from benchmarks.clevr.shipped import evaluation, whatchanged
from benchmarks.record import Watch, add_record_option, write_result
from whatchanged.errors import OutputError, WhatchangedError
from whatchanged.files import write_output
from whatchanged.synth.clevr.sampling import Views
from whatchanged.synth.clevr.twin import write_twin

SIZE = (240, 160)
SETTINGS = ("views", "scenes", "held", "seed", "steps", "init_seed")
"""Options that what is in OUT depends on."""


def main() -> None:
    """Draw, train, export, score, record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--views", choices=get_args(Views), default="fixed")
    parser.add_argument("--scenes", type=int, default=472, help="85 %% of them are trained on")
    parser.add_argument("--held", type=int, default=150, help="scenes of the set that is scored")
    parser.add_argument("--seed", type=int, default=71, help="of the drawn scenes")
    parser.add_argument("--steps", type=int, help="otherwise as many as the recipe says")
    parser.add_argument("--init-seed", type=int, default=11, help="of the run")
    add_record_option(parser, "pixels")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    settle(options.out, {name: getattr(options, name) for name in SETTINGS})
    for name, scenes, seed in (
        ("data", options.scenes, options.seed),
        ("held", options.held, options.seed + 1),
    ):
        if not (options.out / name).exists():
            write_twin(options.out / name, scenes, seed, SIZE, views=options.views)
    with Watch() as watch:
        training = train(options.out, options.steps, options.init_seed)
    _, figures = evaluation(options.out / "held", ["--model", str(options.out / "model")], False)
    figures["training"] = training
    if options.record:
        seeds = {"train": options.seed, "held": options.seed + 1, "run": options.init_seed}
        print(write_result(options.record, "evaluation", figures, watch=watch, seeds=seeds))


def settle(out: Path, settings: Mapping[str, Any]) -> None:
    """Make OUT and keep the settings in it. Raises OutputError where it holds what was made with others."""
    out.mkdir(parents=True, exist_ok=True)
    kept = out / "settings.json"
    before = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else None
    if before is None and any(out.iterdir()):
        raise OutputError(f"{out}: it is not empty, and has no {kept.name}. Choose a new folder.")
    if before not in (None, settings):
        raise OutputError(f"{out}: it was made with other options: {before}. Choose a new folder.")
    write_output(kept, json.dumps(settings, indent=1))


def train(out: Path, steps: int | None, seed: int) -> dict[str, Any]:
    """Train and export; how many pairs were read in how many seconds."""
    run, model = out / "run", out / "model"
    if (run / "checkpoints" / "last.safetensors").exists():
        whatchanged("train", "--resume", "--output", str(run), "--quiet")
    else:
        chosen = [] if steps is None else ["--set", f"stage.caption.steps={steps}"]
        chosen += ["--set", f"seed={seed}", "--device", "cpu", "--quiet"]
        whatchanged("train", "pcl-pixels", "--data", str(out / "data"), "--output", str(run), *chosen)
    if not model.exists():
        whatchanged("export", str(run), str(model))
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    last = [line for line in lines if "seconds" in line][-1]
    splits = json.loads((out / "data" / "splits.json").read_text(encoding="utf-8"))
    return {"steps": last["step"], "seconds": last["seconds"], "scenes": len(splits["train"])}


if __name__ == "__main__":
    try:
        main()
    except WhatchangedError as error:
        sys.exit(f"Error: {error}")
