"""Packs a run's weights in 16 bits into files of bounded size, for places where a checkpoint is too large.

FOLDER/
  weights-NN.safetensors    parts, all with the same metadata
  recipe.toml, vocabulary.json, environment.json    as in the run
"""

import json
import time
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from whatchanged.bpe import from_json
from whatchanged.errors import OutputError, RecipeError
from whatchanged.files import write_whole
from whatchanged.json_values import read_json
from whatchanged.opening import read_regular, read_regular_text, regular
from whatchanged.recipes.values import dump_recipe
from whatchanged.training.build import check_weights, make_method
from whatchanged.training.checkpoint import Checkpoint, digest, read_checkpoint, save_checkpoint, state_of
from whatchanged.training.compatibility import current_names
from whatchanged.training.run_folder import checkpoint_file, read_recipe

PART = 15 * 2**20
"""Bytes of tensors in one part at most; a single larger tensor is a part of its own."""
PACKED_FROM = 4096
"""Tensors of fewer numbers (norms, biases, running statistics) are stored exactly. A bundle, which knows
those by their single axis, begins at smaller matrices (``bundle_weights.HALF_FROM``)."""
LARGEST_PACKED = 60_000
"""Tensors with a number beyond this bound are stored exactly, because float16 ends at 65,504. A bundle's
bound is nearer to 65,504 (``bundle_weights.LARGEST_HALF``). Neither bound changes, so that a run always gives
the same files."""


def pack(run: Path, folder: Path, checkpoint: str = "auto") -> None:
    """Write a run's weights, recipe, vocabulary and environment to ``folder``, replacing files of an earlier
    ``pack``.

    checkpoint: as in ``checkpoint_file``.
    """
    recipe, saved = read_recipe(run), read_checkpoint(checkpoint_file(run, checkpoint))
    parts: list[dict[str, Tensor]] = [{}]
    for name, tensor in saved.model_tensors().items():
        packed = tensor if _stays(tensor) else tensor.half()
        if parts[-1] and sum(t.nbytes for t in parts[-1].values()) + packed.nbytes > PART:
            parts.append({})
        parts[-1][name] = packed
    state = saved.state
    stands = {"stage": state.stage, "step": state.step, "best": state.best, "seconds": state.seconds}
    kept = {name: tensor for part in parts for name, tensor in part.items()}
    stamp = {
        "state": json.dumps(stands),
        "parts": str(len(parts)),
        "written": str(time.time_ns()),
        "sha256": digest(kept),
    }
    for number, part in enumerate(parts):
        write_whole(folder / _part(number), save(part, stamp))
    for name in ("vocabulary.json", "environment.json"):
        if (run / name).is_file():
            write_whole(folder / name, read_regular(run / name))
    write_whole(folder / "recipe.toml", dump_recipe(recipe).encode())
    written = {_part(number) for number in range(len(parts))}
    for path in folder.glob("weights-*.safetensors"):
        if path.name not in written:  # of a larger model that lay here
            path.unlink()


def unpack(folder: Path, run: Path) -> None:
    """Make a run folder from packed weights: a finished run, for export or as the start of another run.

    Raises OutputError where ``run`` is not empty; RecipeError where parts are missing, damaged or from two
    checkpoints, or do not fit the recipe.
    """
    if run.exists() and (not run.is_dir() or any(run.iterdir())):
        raise OutputError(f"{run}: exists already. Choose another folder.")
    recipe = read_recipe(folder)
    tensors: dict[str, Tensor] = {}
    stamps: list[dict[str, str]] = []
    try:
        for path in sorted(folder.glob("weights-*.safetensors")):
            with safe_open(regular(path), framework="pt") as file:
                stamps.append(file.metadata() or {})
                tensors |= {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if any(stamp != stamps[0] for stamp in stamps) or stamps[0]["parts"] != str(len(stamps)):
            raise ValueError(f"{len(stamps)} parts that do not make one whole")
        if stamps[0].get("sha256", (found := digest(tensors))) != found:  # packed before 0.2: without
            raise ValueError("their content was changed: its SHA-256 differs")
        tensors = current_names(tensors)
        vocabulary = from_json(read_json(read_regular_text(folder / "vocabulary.json")))
        state = state_of({**read_json(stamps[0]["state"]), "finished": True})
        check_weights(recipe, vocabulary, tensors, str(folder))
        method = make_method(recipe, vocabulary)
    except (OSError, SafetensorError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise RecipeError(
            f"{folder}: no packed weights can be read here ({error}). Pack the run again."
        ) from error
    model = {f"model.{name}": tensor for name, tensor in tensors.items()}
    Checkpoint(folder, state, model, {}).restore_model(method)
    save_checkpoint(run / "checkpoints" / "last.safetensors", state, method, None)
    for name in ("recipe.toml", "vocabulary.json", "environment.json"):
        if (folder / name).is_file():
            write_whole(run / name, read_regular(folder / name))


def _part(number: int) -> str:
    return f"weights-{number:02d}.safetensors"


def _stays(tensor: Tensor) -> bool:
    small = tensor.numel() < PACKED_FROM or not tensor.is_floating_point()
    return small or float(tensor.abs().max()) > LARGEST_PACKED
