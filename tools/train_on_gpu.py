"""Trains the shipped model further in short rounds on another machine, with a GPU.

First pack 16-bit weights on the machine that has the run. CARRIED is a folder inside the repository:

    PYTHONPATH=src python tools/train_on_gpu.py pack RUN CARRIED

Then train on the machine with the GPU, as often as you like. One command is one round, which takes
``--seconds`` in all:

    export PYTHONPATH=src
    python3 tools/train_on_gpu.py round WORK --weights CARRIED --out $OUT --seconds 540 --seed 101
    python3 tools/train_on_gpu.py round WORK --out $OUT --seconds 540 --seed 101 --draw 0.1

The second command continues in the same WORK. It starts from the weights of the first round and adds pictures
to its pool. On another machine, give the folder that came back as --weights. Also give another --seed, since
the same seed draws the same pictures again. At the end, unpack the weights on the machine that has the run:

    PYTHONPATH=src python tools/train_on_gpu.py unpack CAME_BACK NEW_RUN
    whatchanged export NEW_RUN MODEL --data TWIN --fp16

A round has three parts, each with a share of the time. First, CPU cores and GPU draw pictures (--draw); the
cores continue to draw during the other parts. Second, clevr-see trains the vision (--see), and the tokens of
the pool are stored. Third, clevr-pcl learns matching, pre-training and captioning (--speak). The rest of the
time is for tokens, scores on held-out pairs, and packing. A trial of a few steps measures how many steps fit
into the time, so that each schedule ends in time. Each checkpoint is packed into the output folder as soon as
it is written. In every round the optimisers start again, with a warm-up. ``--see 0`` or ``--speak 0`` leaves
out a part. ``--set`` changes both recipes.

The GPU's machine needs torch, numpy, pillow, safetensors, rich, tensorboard, scikit-learn and numba. Without
numba only the GPU draws.
"""

import argparse
import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import torch

from whatchanged.errors import DatasetError, RecipeError, WhatchangedError
from whatchanged.files import write_whole
from whatchanged.launch import Launch
from whatchanged.recipes import ObjectsConfig, PoolConfig
from whatchanged.recipes.reader import load_recipe
from whatchanged.recipes.schema import Recipe, StageConfig
from whatchanged.training.checkpoint import State
from whatchanged.training.device import choose_device
from whatchanged.training.features.store import store_tokens
from whatchanged.training.objects.pool import draw_pool, growing, open_shards
from whatchanged.training.objects.pool_source import ORDERED, PoolSource
from whatchanged.training.run import run_recipe
from whatchanged.training.run_folder import environment, open_run
from whatchanged.training.validation import caption_source, captioning_scores
from whatchanged.training.weights.weight_shards import pack, unpack
from whatchanged.worlds.clevr.grading import judge

TRIAL_STEPS, TRIAL_EVERY = 160, 10
PICTURE_WORKERS = 4
"""Processes that read pictures beside those that draw."""
LEAST_SHARED = 2 * 2**30
"""Bytes of shared memory below which threads read."""
MOST_SCENES = 100_000
HELD_SCENES, HELD_SEED = 200, 90_017
"""Pairs that every round is measured on, from a seed that nothing trains on."""
Shares = dict[str, float]
Learn = Callable[..., State]
SPEAK: Shares = {"match": 0.15, "pretrain": 0.25, "caption": 0.6}
"""How the stages of clevr-pcl share their time."""
FOR_GPU = (
    "data.augment=batches",
    *(f"stage.{name}.batch={512 if name in SPEAK else 256}" for name in ("see", *SPEAK)),
    *(f"stage.{name}.save_every=200" for name in ("see", *SPEAK)),
)
"""Settings of both recipes on a GPU."""


@contextmanager
def publishing(run: Path, out: Path, every: float = 15.0) -> Iterator[None]:
    """While the block trains into ``run``, pack each new checkpoint into ``out``, the last one too."""
    last, over = run / "checkpoints" / "last.safetensors", threading.Event()

    def watch() -> None:
        packed = 0.0
        while True:
            ended = over.wait(every)
            if last.exists() and last.stat().st_mtime != packed:
                packed = last.stat().st_mtime
                pack(run, out, "last")
            if ended:
                return

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def speeds(recipe: Recipe, scratch: Path, learn: Learn, seconds: float) -> tuple[dict[str, float], float]:
    """Steps a second of each stage, by a trial of a few steps, and the seconds before the first of them.

    A stage that the trial does not reach counts as the last one that it reached.
    """
    began = time.monotonic()
    shutil.rmtree(scratch, ignore_errors=True)
    stages = tuple(_short(stage) for stage in recipe.stages)
    state = learn(replace(recipe, stages=stages), scratch, max_seconds=seconds, quiet=True)
    opening = time.monotonic() - began - state.seconds
    lines = [json.loads(line) for line in (scratch / "metrics.jsonl").read_text().splitlines()]
    results: dict[str, float] = {}
    rate = max(1, state.step) / max(state.seconds, 1e-3)
    for stage in stages:
        of = [line for line in lines if line["stage"] == stage.name]
        if len(of) > 1:  # the first half holds what happens but once, and batches that were read ahead
            middle, end = of[(len(of) - 1) // 2], of[-1]
            rate = (end["step"] - middle["step"]) / max(end["seconds"] - middle["seconds"], 1e-3)
        results[stage.name] = rate
    return results, opening


def _short(stage: StageConfig) -> StageConfig:
    """The stage of a trial. Without FDA, whose false captions take long to find."""
    return replace(
        stage,
        steps=TRIAL_STEPS,
        log_every=TRIAL_EVERY,
        evaluate_every=0,
        evaluate_from=0,
        patience=0,
        tasks={task: weight for task, weight in stage.tasks.items() if task != "fda"},
    )


def train_for(
    recipe: Recipe, run: Path, init: Path | None, seconds: float, shares: Shares, device: str, out: Path
) -> dict[str, Any]:
    """Train each stage for its share of ``seconds``, trial included; returns what was done."""
    began = time.monotonic()
    learn = partial(run_recipe, init=init, device=device, workers=reading_processes(recipe, device))
    rates, opening = speeds(recipe, run.with_name(f"{run.name}-trial"), learn, 0.15 * seconds)
    left = seconds - (time.monotonic() - began) - opening
    steps = {name: max(1, int(0.93 * left * shares[name] * rate)) for name, rate in rates.items()}
    stages = tuple(_cut(stage, steps[stage.name]) for stage in recipe.stages)
    with publishing(run, out):
        state = learn(replace(recipe, stages=stages), run, max_seconds=left)
    return {"steps_per_second": rates, "steps": steps, "finished": state.finished, "seconds": state.seconds}


def _cut(stage: StageConfig, steps: int) -> StageConfig:
    """The stage with this many steps, and all else within them."""
    return replace(
        stage,
        steps=steps,
        warmup=max(1, min(stage.warmup, steps // 10)),
        evaluate_every=min(stage.evaluate_every, steps),
        evaluate_from=min(stage.evaluate_from, steps),
    )


def score(run: Path, held: Path, device: str) -> dict[str, float]:
    """The greedy captions of held-out pairs: CIDEr-D, ROUGE-L, and how many (%) are true."""
    where = choose_device(device)
    _, method, _ = open_run(run, "last")
    method.to(where)
    shards = open_shards(held)
    source = PoolSource(shards, (), 0, sum(map(len, shards)), ORDERED["official"], "captions", False)
    captions, references = caption_source(method, source, where)
    true = sum(judge(text, *source.truth(i)).true for i, text in enumerate(captions))
    scores = captioning_scores(captions, references)
    return {**scores, "true": 100 * true / len(source), "pairs": len(source)}


def reading_processes(recipe: Recipe, device: str) -> int:
    """Processes that read examples for a GPU; 0 for a CPU, which is slow enough for threads."""
    shared = Path("/dev/shm")
    room = shutil.disk_usage(shared).free if shared.is_dir() else 0
    if choose_device(device).type == "cpu" or room < LEAST_SHARED:
        return 0
    from_tokens = isinstance(recipe.data, PoolConfig) and recipe.data.tokens
    return max(PICTURE_WORKERS, (os.cpu_count() or 1) - 2) if from_tokens else PICTURE_WORKERS


def drawing_processes(device: str) -> int:
    """How many processes draw: one a core; beside a GPU two cores are left to what feeds it."""
    fed = 2 if choose_device(device).type == "cuda" else 0
    return max(1, (os.cpu_count() or 1) - fed)


def one_round(options: argparse.Namespace) -> dict[str, Any]:
    """Draw, train the vision, store its tokens, train the captioner, score.

    Returns the report, which is also written to ``out``/round.json.
    """
    end = time.monotonic() + options.seconds
    work, out, device = options.work, options.out, options.device
    number = len(list(work.glob("round-*")))
    here, pool, held = work / f"round-{number:02d}", work / "pool", work / "held"
    here.mkdir(parents=True)
    start = _start(options, here)
    see, speak = (_recipe(name, options.set, pool) for name in ("clevr-see", "clevr-pcl"))
    size = _picture_size(see)
    torch.backends.cudnn.benchmark = True  # pictures have one size
    report: dict[str, Any] = {"round": number, "device": environment(choose_device(device))["device"]}

    def note(key: str, value: Any) -> None:
        report[key] = value
        write_whole(out / "round.json", (json.dumps(report, indent=1) + "\n").encode())
        print(f"{options.seconds - (end - time.monotonic()):6.0f} s  {key}: {json.dumps(value)}", flush=True)

    with ExitStack() as stack:
        processes = stack.enter_context(
            growing(pool, options.seed, size, drawing_processes(device), MOST_SCENES)
        )
        draw_pool(held, options.held, HELD_SEED, size, 2)
        gone = options.seconds - (end - time.monotonic())
        _wait(pool, options.draw * options.seconds - gone, processes)
        note("drawn", _drawn(pool))
        if start is not None:
            note("before", score(start, held, device))
        if options.see:
            shares = {stage.name: 1 / len(see.stages) for stage in see.stages}
            given = options.see * options.seconds
            note("see", train_for(see, here / "see", start, given, shares, device, out))
            start = here / "see"
    note("drawn", _drawn(pool))
    if options.speak and start is not None:
        tokens = here / "tokens"
        note("tokens", store_tokens(start, pool, tokens, options.variants, Launch(device, quiet=True)))
        speak = replace(speak, data=speak.data.with_folders(str(pool), str(tokens)))
        left = min(options.speak * options.seconds, end - time.monotonic() - 0.05 * options.seconds)
        note("speak", train_for(speak, here / "speak", start, left, SPEAK, device, out))
        shutil.rmtree(tokens)
        start = here / "speak"
    if start is not None:
        pack(start, out, "last")
        note("after", score(start, held, device))
    return report


def _start(options: argparse.Namespace, here: Path) -> Path | None:
    """The run to go on from: the carried weights, else the last round's, else none."""
    if options.weights is not None:
        unpack(options.weights, here / "start")
        return here / "start"
    done = [*options.work.glob("round-*/see/checkpoints/last.safetensors")]
    done += options.work.glob("round-*/speak/checkpoints/last.safetensors")
    return max(done, key=lambda file: file.stat().st_mtime).parents[1] if done else None


def _recipe(name: str, overrides: Sequence[str], pool: Path) -> Recipe:
    """A recipe with the GPU's batches, then ``overrides``, but for those of stages that it does not have."""
    stages = {stage.name for stage in load_recipe(name).stages}
    chosen = [
        text
        for text in (*FOR_GPU, *overrides)
        if not text.startswith(("stage.", "stages.")) or text.split(".")[1] in stages
    ]
    return load_recipe(name, [*chosen, f"data.path={json.dumps(str(pool), ensure_ascii=False)}"])


def _picture_size(recipe: Recipe) -> tuple[int, int]:
    """Width and height of the pictures that the recipe reads."""
    if not isinstance(recipe.vision, ObjectsConfig):
        raise RecipeError(f"{recipe.name}: a round trains object tokens. Leave vision.kind as it is.")
    return recipe.vision.image_width, recipe.vision.image_height


def _wait(pool: Path, seconds: float, processes: Sequence[BaseProcess]) -> None:
    """Until the time is over and there is something to learn from, or nothing draws any more.

    Raises DatasetError if there is nothing to learn from then.
    """
    over = time.monotonic() + seconds
    while time.monotonic() < over or _drawn(pool)["shards"] < 2:
        if not any(process.is_alive() for process in processes):
            break
        time.sleep(0.5)
    if (shards := _drawn(pool)["shards"]) < 2:
        raise DatasetError(
            f"{pool}: {shards} shards are there, wanted 2, and every process that draws has ended. What they"
            " wrote above says why."
        )


def _drawn(pool: Path) -> dict[str, int]:
    return {"shards": len(list(pool.glob("[0-9]*.pictures.npy")))}


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line: pack, unpack, round."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, places in (("pack", ("run", "folder")), ("unpack", ("folder", "run"))):
        command = commands.add_parser(name)
        for place in places:
            command.add_argument(place, type=Path)
    command = commands.add_parser("round")
    command.add_argument("work", type=Path, help="folder of this machine that rounds share")
    command.add_argument("--weights", type=Path, help="packed weights; default: the last round's, or none")
    command.add_argument("--out", type=Path, required=True, help="folder that receives weights and report")
    command.add_argument("--seconds", type=float, default=540.0)
    for part, share in (("draw", 0.22), ("see", 0.33), ("speak", 0.33)):
        command.add_argument(f"--{part}", type=float, default=share, help="share of the seconds")
    command.add_argument("--seed", type=int, default=101, help="of the pool; one that was not drawn before")
    command.add_argument("--held", type=int, default=HELD_SCENES, help="held-out scenes, two pairs each")
    command.add_argument("--variants", type=int, default=3, help="stored versions of each picture's tokens")
    command.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    command.add_argument("--device", default="auto")
    options = parser.parse_args(arguments)
    try:
        if options.command == "round":
            one_round(options)
        elif options.command == "pack":
            pack(options.run, options.folder)
        else:
            unpack(options.folder, options.run)
    except WhatchangedError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
