"""Checkpoints: one safetensors file with weights, optimiser state, random states and JSON.

Nothing is pickled. A checkpoint is first written under a temporary name, and renamed when it is complete. Any
program that reads safetensors can load the model's tensors.
"""

import hashlib
import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from whatchanged.errors import RecipeError
from whatchanged.files import write_whole
from whatchanged.json_values import read_json
from whatchanged.opening import regular
from whatchanged.training.compatibility import current_names
from whatchanged.training.distributed import rank
from whatchanged.training.vision.base import TorchModule

_UNREADABLE = (OSError, SafetensorError, KeyError, TypeError, ValueError, AttributeError)
"""The exceptions that reading a damaged checkpoint raises."""


@dataclass
class State:
    """The progress of a run. A checkpoint stores the whole state.

    stage, step: the next step to take. positions: the position of each task's stream. best, misses: the best
    value of the running stage's metric, and the number of evaluations since that value. window: name of a
    loss term -> [sum, count] since the last log line. log_bytes: length of metrics.jsonl. seconds: training
    time so far, over all launches.
    """

    stage: int = 0
    step: int = 0
    positions: dict[str, int] = field(default_factory=dict)
    best: float | None = None
    misses: int = 0
    window: dict[str, list[float]] = field(default_factory=dict)
    log_bytes: int = 0
    seconds: float = 0.0
    finished: bool = False


def save_checkpoint(
    path: Path, state: State, method: TorchModule, optimizer: torch.optim.Optimizer | None
) -> None:
    """Write a checkpoint beside ``path``, then rename the file to ``path``. Among several processes, only the
    first process writes.
    """
    if rank():
        return
    tensors = {f"model.{name}": tensor for name, tensor in model_tensors(method).items()}
    if optimizer is not None:
        tensors |= dict(_optimizer_tensors(method, optimizer))
    tensors |= {"random.torch": torch.get_rng_state(), "random.numpy": _numpy_keys()}
    for number in range(torch.cuda.device_count()):
        tensors[f"random.cuda.{number}"] = torch.cuda.get_rng_state(number)
    saved = {name: t.detach().cpu().contiguous() for name, t in tensors.items()}
    rest = {"state": asdict(state), "python": random.getstate(), "numpy": _numpy_state()[2:]}
    rest["sha256"] = digest(saved, json.dumps(rest))
    write_whole(path, save(saved, {"rest": json.dumps(rest)}), synced=True)


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was read: the state, and all tensors by name."""

    path: Path
    state: State
    tensors: Mapping[str, Tensor]
    rest: Mapping[str, Any]

    def model_tensors(self) -> dict[str, Tensor]:
        """Return the method's tensors by name."""
        return {n.removeprefix("model."): t for n, t in self.tensors.items() if n.startswith("model.")}

    def restore_model(self, method: TorchModule) -> None:
        """Copy the weights into ``method``. Raises RecipeError if names or shapes differ."""
        saved = self.model_tensors()
        own = model_tensors(method)
        wrong = sorted(saved.keys() ^ own.keys())
        wrong += sorted(name for name in saved.keys() & own.keys() if saved[name].shape != own[name].shape)
        if wrong:
            raise RecipeError(
                f"{self.path}: the weights do not fit the recipe ({len(wrong)} differ, first: {wrong[0]})."
                " Use the recipe that the run was started with."
            )
        with torch.no_grad():
            for name, tensor in own.items():
                tensor.copy_(saved[name])

    def restore_optimizer(self, method: TorchModule, optimizer: torch.optim.Optimizer) -> None:
        """Give each parameter its saved moments. A parameter that never had a gradient has no moments."""
        device_free = {"step"}  # Adam keeps its step counter on the CPU
        self._check_moments(method)
        names = {parameter: name for name, parameter in method.named_parameters()}
        for parameter in (p for group in optimizer.param_groups for p in group["params"]):
            prefix = f"optimizer.{names[parameter]}."
            moments = {n.removeprefix(prefix): t for n, t in self.tensors.items() if n.startswith(prefix)}
            if moments:
                optimizer.state[parameter] = {
                    key: t.clone() if key in device_free else t.to(parameter.device)
                    for key, t in moments.items()
                }

    def restore_random(self) -> None:
        """Restore the saved states of the random generators of Python, NumPy and torch (on each device)."""
        try:
            version, keys, gauss = self.rest["python"]
            random.setstate((version, tuple(keys), gauss))
            np.random.set_state(("MT19937", self.tensors["random.numpy"].numpy(), *self.rest["numpy"]))
            torch.set_rng_state(self.tensors["random.torch"])
            for number in range(torch.cuda.device_count()):
                if f"random.cuda.{number}" in self.tensors:
                    torch.cuda.set_rng_state(self.tensors[f"random.cuda.{number}"], number)
        except (LookupError, TypeError, ValueError, OverflowError, RuntimeError) as error:
            raise self._damaged(f"its random states: {error}") from error

    def _check_moments(self, method: TorchModule) -> None:
        """Raises RecipeError where the optimiser's tensors do not belong to the method's parameters."""
        shapes = {name: parameter.shape for name, parameter in method.named_parameters()}
        moments: dict[str, set[str]] = {}
        for key, tensor in self.tensors.items():
            if not key.startswith("optimizer."):
                continue
            name, _, moment = key.removeprefix("optimizer.").rpartition(".")
            if name not in shapes or tensor.shape not in (shapes[name], torch.Size()):
                raise self._damaged(f"{key} is no optimiser state of a parameter")
            moments.setdefault(name, set()).add(moment)
        if len({frozenset(results) for results in moments.values()}) > 1:
            raise self._damaged("parameters have different kinds of optimiser state")

    def _damaged(self, what: str) -> RecipeError:
        return RecipeError(f"{self.path}: no checkpoint can be read here ({what}). Start the run again.")


def stage_checkpoint(stage: str) -> str:
    """Return the file name, without suffix, of a stage's best checkpoint while a later stage runs."""
    return f"best-{quote(stage, safe='')}"


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint. Raises RecipeError if the file is missing or damaged."""
    try:
        with safe_open(regular(path), framework="pt") as file:
            rest = read_json((file.metadata() or {})["rest"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        sha256 = rest.pop("sha256", None)  # checkpoints before 0.2 have none
        if sha256 is not None and sha256 != digest(tensors, json.dumps(rest)):
            raise ValueError("its content was changed: its SHA-256 differs")
        tensors = current_names(tensors)
        return Checkpoint(path, state_of(rest["state"]), tensors, rest)
    except _UNREADABLE as error:
        raise RecipeError(
            f"{path}: no checkpoint can be read here ({error}). Start the run again."
        ) from error


def read_state(path: Path) -> State:
    """Return the state in this checkpoint, without reading the weights. Raises RecipeError if the file is
    missing or damaged.
    """
    try:
        with safe_open(regular(path), framework="pt") as file:
            return state_of(read_json((file.metadata() or {})["rest"])["state"])
    except _UNREADABLE as error:
        raise RecipeError(
            f"{path}: no checkpoint can be read here ({error}). Start the run again."
        ) from error


def digest(tensors: Mapping[str, Tensor], rest: str = "") -> str:
    """Return the SHA-256, in hexadecimal, of a text and of tensors with their names, shapes and types."""
    found = hashlib.sha256(rest.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        found.update(f"\0{name}\0{tuple(tensor.shape)}\0{tensor.dtype}\0".encode())
        found.update(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return found.hexdigest()


def state_of(fields: Any) -> State:
    """Return the state that a checkpoint's JSON holds. Raises TypeError or ValueError where a value is not
    valid.
    """
    state = State(**fields)
    counts = (state.stage, state.step, state.misses, state.log_bytes, *state.positions.values())
    if any(type(count) is not int or count < 0 for count in counts):
        raise ValueError("its step counts are not whole numbers")
    if not (state.best is None or isinstance(state.best, int | float)) or type(state.finished) is not bool:
        raise ValueError("its best score or its end has a wrong type")
    if any(len(pair) != 2 for pair in state.window.values()):
        raise ValueError("its sums of losses have no counts")
    numbers = [state.seconds, *(number for pair in state.window.values() for number in pair)]
    if not all(type(number) in (int, float) for number in numbers):
        raise ValueError("its sums of losses or its seconds are not numbers")
    return state


def model_tensors(method: TorchModule) -> dict[str, Tensor]:
    """Return a module's weights and buffers by name. A tensor with two names appears under its first name."""
    seen: set[int] = set()
    tensors = {}
    for name, tensor in method.state_dict().items():
        if tensor.numel() and tensor.data_ptr() in seen:
            continue
        seen.add(tensor.data_ptr())
        tensors[name] = tensor
    return tensors


def _optimizer_tensors(method: TorchModule, optimizer: torch.optim.Optimizer) -> Iterator[tuple[str, Tensor]]:
    names: dict[Tensor, str] = {parameter: name for name, parameter in method.named_parameters()}
    for parameter, moments in optimizer.state.items():
        for key, value in moments.items():
            yield f"optimizer.{names[parameter]}.{key}", value


def _numpy_keys() -> Tensor:
    return torch.from_numpy(np.asarray(_numpy_state()[1], np.int64).copy())


def _numpy_state() -> tuple[Any, ...]:
    return cast(tuple[Any, ...], np.random.get_state(legacy=True))
