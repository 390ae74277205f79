"""The training loop: it runs the stages of a recipe in order, and the steps of each stage in order."""

import math
import shutil
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from signal import Signals

import torch
from torch import Tensor, nn

from whatchanged.errors import RecipeError
from whatchanged.files import whole
from whatchanged.launch import USUAL, Launch
from whatchanged.recipes.schema import Recipe, StageConfig
from whatchanged.training.batches import Draw, StageInput, draws, fitted
from whatchanged.training.checkpoint import (
    Checkpoint,
    State,
    model_tensors,
    read_checkpoint,
    save_checkpoint,
    stage_checkpoint,
)
from whatchanged.training.data.prefetch import draws_by_processes
from whatchanged.training.data.sources import Sources
from whatchanged.training.device import in_precision
from whatchanged.training.distributed import (
    add_up_gradients,
    batch_total,
    begin_alike,
    greatest,
    processes,
    random_draws,
    rank,
    wait_for_all,
)
from whatchanged.training.interrupts import noting_signals
from whatchanged.training.log import Log, RunLog, SilentLog
from whatchanged.training.methods import Method
from whatchanged.training.schedule import fill_unused_gradients, learning_rate, make_optimizer
from whatchanged.training.validation import validate
from whatchanged.training.vision.augmentation import augment_batch

Watcher = Callable[[Method, State], None]
"""A function that inspects a method and the state of its run, ``state.window`` included, without changing the
method or the state.
"""


def train(
    recipe: Recipe,
    method: Method,
    sources: Sources,
    run: Path,
    device: torch.device,
    start: Checkpoint | None = None,
    max_seconds: float | None = None,
    launch: Launch = USUAL,
    watch: Watcher | None = None,
) -> State:
    """Train the recipe's stages, from the beginning or from a checkpoint. Returns the final state.

    The loop writes ``run``/checkpoints/last after every ``save_every`` steps, at the end of each stage, and
    when ``max_seconds`` are over. The loop writes the checkpoint "best" whenever the stage's metric on
    validation data is the best of the stage so far. When a stage ends, its best weights are saved as
    best-STAGE. The next stage starts from these weights with a new optimiser. If the stage was not validated,
    the next stage starts from the last weights.

    On the CPU, a run resumed from its last checkpoint takes exactly the steps of an uninterrupted run.

    launch: ``launch.workers`` processes read the examples. With 0 workers, threads read the examples, and the
    steps do not change. Each batch is read in ``accumulate`` parts (``in_parts``).
    watch: a function that is called before each line of the log.

    SIGINT and SIGTERM save and end the run, as ``max_seconds`` does. The function then raises
    KeyboardInterrupt or SystemExit. A second signal ends the run at once. Raises RecipeError if a loss or the
    metric is not finite.

    If ``torchrun`` started several processes, all processes call this function. Each process reads a part of
    every batch and of the validation pairs. All processes make identical weight updates, and the first
    process writes the files.
    """
    state = State() if start is None else start.state
    before, began = state.seconds, time.monotonic()
    last, best = run / "checkpoints" / "last.safetensors", run / "checkpoints" / "best.safetensors"

    # Only the first process writes.
    log = SilentLog() if rank() else RunLog(run, state.log_bytes, steps_done(recipe, state), launch.quiet)
    with log, noting_signals(log.info) as asked:
        while not state.finished:
            stage = recipe.stages[state.stage]
            optimizer = begin_stage(recipe, method, state, device, start, best, log)
            start = None
            with closing(stage_draws(recipe, method, sources, state, launch.workers or 0)) as ahead:
                for draw in ahead:
                    values = take_step(method, optimizer, draw, recipe, state, device, launch.accumulate)
                    count_terms(state.window, draw.task, values)
                    state.step, state.positions = state.step + 1, draw.positions
                    state.seconds = before + time.monotonic() - began
                    if watch is not None and due(state.step, stage.log_every, stage.steps):
                        watch(method, state)
                    report(recipe, method, sources, state, device, best, log)
                    if stage_over(stage, state, log):
                        break
                    late = max_seconds is not None and time.monotonic() - began >= max_seconds
                    over, signal = greatest([late, asked.signal or 0])
                    if over or signal or due(state.step, stage.save_every, stage.steps):
                        state.log_bytes = log.length
                        save_checkpoint(last, state, method, optimizer)
                    if signal:
                        log.info(
                            f"Stopped and saved at {stage.name}, step {state.step}. Go on with --resume."
                        )
                        asked.end(Signals(signal))
                    if over:
                        log.info(f"Time is over at {stage.name}, step {state.step} of {stage.steps}.")
                        return state
            state = end_stage(recipe, method, state, best, log)
            save_checkpoint(last, state, method, None)
    return state


def begin_stage(
    recipe: Recipe,
    method: Method,
    state: State,
    device: torch.device,
    start: Checkpoint | None,
    best: Path,
    log: Log,
) -> torch.optim.Optimizer:
    """Return the optimiser of a stage that begins, or that resumes from the checkpoint ``start``."""
    stage = recipe.stages[state.stage]
    if not state.step and rank() == 0:
        best.unlink(missing_ok=True)  # it would be of the stage before
    optimizer = make_optimizer(method, stage)
    if start is not None:
        start.restore_optimizer(method, optimizer)
        start.restore_random()
    begin_alike(model_tensors(method).values(), device)
    log.stage(stage.name, state.step, stage.steps)
    return optimizer


def stage_draws(
    recipe: Recipe, method: Method, sources: Sources, state: State, workers: int
) -> Generator[Draw]:
    """Yield the batches of the running stage from its next step on, read by threads or by processes."""
    stage = recipe.stages[state.stage]
    on_gpu = any(parameter.device.type == "cuda" for parameter in method.parameters())
    given = StageInput(
        stage,
        sources.of(stage, recipe.tasks),
        recipe.tasks,
        (recipe.seed, state.stage),
        method.batch_size,
        method.collate,
        (rank(), processes()),
        pinned=on_gpu,
    )
    if workers:
        return draws_by_processes(given, state.step, state.positions, workers)
    return draws(given, state.step, state.positions)


def take_step(
    method: Method,
    optimizer: torch.optim.Optimizer,
    draw: Draw,
    recipe: Recipe,
    state: State,
    device: torch.device,
    accumulate: int = 1,
) -> dict[str, float]:
    """Make the next weight update. Returns the terms of the loss as numbers; the loss is the sum of these
    terms.

    Each process computes the shares of its part of the batch. The shares add up to the whole batch's terms
    and gradients, so all processes make identical updates.
    """
    stage, step = recipe.stages[state.stage], state.step
    method.train()
    if not stage.learns_vision:  # its running statistics stay as they are, too
        method.vision.eval()
    batch = fitted(draw).to(device)
    if recipe.data.augments_batches:
        batch = augment_batch(batch, (recipe.seed, state.stage, step))
    with random_draws(device, (recipe.seed, state.stage, step)) as common:
        with in_precision(stage.precision, device):
            terms = method.loss(draw.task, replace(batch, generator=common, accumulate=accumulate))
        values = finite_values(terms, f"stage.{stage.name}, step {step}, task {draw.task}")
        optimizer.zero_grad()
        torch.stack([term.float() for term in terms.values()]).sum().backward()  # type: ignore[no-untyped-call]
    add_up_gradients(method.parameters())
    fill_unused_gradients(optimizer)
    if stage.max_grad_norm:
        learning = [parameter for parameter in method.parameters() if parameter.requires_grad]
        nn.utils.clip_grad_norm_(learning, stage.max_grad_norm)
    for group in optimizer.param_groups:
        group["lr"] = learning_rate(stage, step) * group["rate"]
    optimizer.step()
    return values


def report(
    recipe: Recipe,
    method: Method,
    sources: Sources,
    state: State,
    device: torch.device,
    best: Path,
    log: Log,
) -> None:
    """Log the losses and validate after a step, where due. Save the weights if their score is the best so
    far.
    """
    stage = recipe.stages[state.stage]
    log.advance(state.step)
    if due(state.step, stage.log_every, stage.steps):
        write_means(log, recipe, state)
    if stage.evaluate_every and due(state.step, stage.evaluate_every, stage.steps):
        scores = validate(method, sources.validation, device, stage.metric)
        log.write({"stage": stage.name, "step": state.step, **scores}, steps_done(recipe, state))
        counts = state.step >= stage.evaluate_from
        if is_best(state, finite_score(scores, stage, state.step), counts):
            save_checkpoint(best, state, method, None)


def end_stage(recipe: Recipe, method: Method, state: State, best: Path, log: Log) -> State:
    """Log the remaining losses, and give ``method`` the weights from which the next stage starts. Returns the
    new state.
    """
    stage = recipe.stages[state.stage]
    if state.window:  # patience ended the stage between two lines
        write_means(log, recipe, state)
    if state.best is not None and stage is not recipe.stages[-1]:
        kept = keep_best(method, best, stage.name)
        log.info(f"{stage.name}: its best weights, of step {kept.step}, go on.")
    return next_stage(state, recipe, log.length)


def steps_done(recipe: Recipe, state: State) -> int:
    """Return the number of steps of the whole run so far. A finished stage counts with all the steps that the
    recipe gives this stage.
    """
    return sum(stage.steps for stage in recipe.stages[: state.stage]) + state.step


def write_means(log: Log, recipe: Recipe, state: State) -> None:
    """Log the mean of each loss term since the last log line, then reset the means.

    ``lr`` is the schedule's learning rate at the last step. ``stage.rates`` scales this rate for some
    parameter groups.
    """
    stage = recipe.stages[state.stage]
    at = {"stage": stage.name, "step": state.step}
    means = {name: total / times for name, (total, times) in sorted(state.window.items())}
    timing = {"lr": learning_rate(stage, state.step - 1), "seconds": round(state.seconds, 3)}
    log.write({**at, **means, **timing}, steps_done(recipe, state))
    state.window = {}


def is_best(state: State, score: float, counts: bool = True) -> bool:
    """Return whether a score is the best of the stage so far. A score that does not ``count`` is never the
    best. Updates the number of evaluations since the best score.
    """
    if counts and (state.best is None or score > state.best):
        state.best, state.misses = score, 0
        return True
    state.misses += 1
    return False


def finite_score(scores: Mapping[str, float], stage: StageConfig, step: int) -> float:
    """Return the value of the stage's metric. Raises RecipeError if the value is infinite or NaN, because no
    later score could beat such a value.
    """
    score = scores[stage.metric]
    if not math.isfinite(score):
        raise RecipeError(
            f"stage.{stage.name}, step {step}: {stage.metric} on validation data is not finite ({score})."
            " Lower lr, or set max_grad_norm."
        )
    return score


def stage_over(stage: StageConfig, state: State, log: Log) -> bool:
    """Return whether the stage ends after this step. A stage ends after its last step, or if the metric has
    not improved for too long.
    """
    if state.step < stage.steps and stage.patience and state.misses >= stage.patience:
        log.info(f"{stage.name}: {stage.metric} has not risen for {state.misses} evaluations.")
        return True
    return state.step == stage.steps


def keep_best(method: Method, best: Path, stage: str) -> State:
    """Copy the best checkpoint to a file with the stage's name, and the checkpoint's weights into
    ``method``.
    """
    wait_for_all()  # it may be being written
    saved = read_checkpoint(best)
    saved.restore_model(method)
    target = best.with_name(f"{stage_checkpoint(stage)}.safetensors")
    if rank() == 0:
        with whole(target) as draft:
            shutil.copyfile(best, draft)
    wait_for_all()
    return saved.state


def next_stage(state: State, recipe: Recipe, log_bytes: int) -> State:
    """Return the state at the beginning of the next stage."""
    if state.stage + 1 < len(recipe.stages):
        return State(stage=state.stage + 1, log_bytes=log_bytes, seconds=state.seconds)
    return replace(state, log_bytes=log_bytes, finished=True)


def count_terms(window: dict[str, list[float]], task: str, values: Mapping[str, float]) -> None:
    """Add a step's terms to the sums and counts since the last log line."""
    for name, value in values.items():
        label = task if name == task else f"{task}/{name}"
        total, times = window.get(label, (0.0, 0))
        window[label] = [total + value, times + 1]


def finite_values(terms: Mapping[str, Tensor], where: str) -> dict[str, float]:
    """Return the loss terms of the whole batch as numbers. Raises RecipeError if a term is infinite or
    NaN.
    """
    shares = torch.stack([term.detach().double() for term in terms.values()])
    values = batch_total(shares).tolist()
    named = dict(zip(terms, values, strict=True))
    if not all(abs(value) < float("inf") for value in values):
        shown = ", ".join(f"{name} {value}" for name, value in named.items())
        raise RecipeError(f"{where}: the loss is not finite ({shown}). Lower lr, or set max_grad_norm.")
    return named


def due(step: int, every: int, steps: int) -> bool:
    """Return whether an action is due after ``step`` steps. The action is due after every ``every`` steps and
    at the end.
    """
    return step % every == 0 or step == steps
