"""Opens vision models of ``transformers`` from a folder on this machine, as backbones of grid features.

The folder is what ``save_pretrained`` writes, or a snapshot of a model's repository: ``config.json``,
``model.safetensors`` and ``preprocessor_config.json``. Nothing is downloaded, and no code in the folder runs.
Only safetensors weights are read. A folder that holds pickles is refused, even if they would not be read. If
the model reads pictures and texts, as CLIP does, only its vision part is used.
"""

import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from whatchanged.errors import MissingExtra, RecipeError
from whatchanged.json_values import read_json
from whatchanged.opening import read_regular_text
from whatchanged.plugins import fault
from whatchanged.telemetry import import_silent
from whatchanged.training.features.openers import GridNetwork

WEIGHTS, PARTS = "model.safetensors", "model.safetensors.index.json"
FORMS = ("preprocessor_config.json", "processor_config.json")
"""Files that say how pictures are prepared; the second holds it as "image_processor"."""
PICKLES = frozenset({".bin", ".ckpt", ".pickle", ".pkl", ".pt", ".pth"})
NOT_READ = ("adapter_config.json",)
"""Files by which the library would load more than the model's own weights."""
PART = re.compile(r"[\w.-]+\.safetensors")
MOST_OTHERS = 16
"""Tokens in front of those of the cells at most: of the class, of distillation, registers."""


class TransformersGrid(nn.Module):
    """A vision model whose tokens are arranged as a grid.

    layer: index into ``hidden_states``; None: ``last_hidden_state``. patch: height and width of a token's
    square in pixels; None if the model has no patches.
    """

    def __init__(self, model: nn.Module, layer: int | None, patch: tuple[int, int] | None) -> None:
        super().__init__()
        self.model, self.layer, self.patch = model, layer, patch

    def forward(self, pictures: Tensor) -> Tensor:
        """(B, 3, H, W) normalised -> (B, F, rows, columns)."""
        results = self.model(pixel_values=pictures, output_hidden_states=self.layer is not None)
        states = results.last_hidden_state if self.layer is None else results.hidden_states[self.layer]
        return as_grid(states, (pictures.shape[2], pictures.shape[3]), self.patch)


def as_grid(states: Tensor, size: tuple[int, int], patch: tuple[int, int] | None) -> Tensor:
    """Return a map (B, F, rows, columns), from a map or from tokens (B, N, F), row by row after the special
    tokens.

    size: height and width of the pictures. patch: of a cell. Without ``patch``, or with fewer tokens than
    patches, the tokens form a grid with as many rows as columns. Raises ValueError where that is impossible.
    """
    if states.ndim == 4:
        return states
    count = states.shape[1]
    rows, columns = (size[0] // patch[0], size[1] // patch[1]) if patch is not None else (0, 0)
    if not 0 <= count - rows * columns <= MOST_OTHERS or not rows:
        rows = columns = round(count**0.5)
        if rows * columns != count:
            raise ValueError(f"its {count} tokens are no grid")
    cells = states[:, count - rows * columns :].transpose(1, 2)  # (B, F, rows x columns)
    return cells.reshape(cells.shape[0], cells.shape[1], rows, columns)


def open_transformers(layer: str, weights: Path | None) -> GridNetwork:
    """Return the vision model in the folder ``weights``, frozen.

    layer: an index into ``hidden_states`` (0: the input of the first block; -2: the last but one); "":
    the library's ``last_hidden_state``. Raises RecipeError where the folder is missing, holds pickles, or
    does not hold a vision model that the library knows; MissingExtra where the library is not installed.
    """
    if weights is None or not weights.is_dir():
        raise RecipeError(
            "transformers: name the folder that holds config.json and model.safetensors: --weights FOLDER."
            " Nothing is downloaded."
        )
    if layer and not re.fullmatch(r"-?\d{1,4}", layer):
        raise RecipeError(f"transformers:{layer}: wanted the number of a layer, such as transformers:-2.")
    if find_spec("transformers") is None:
        raise MissingExtra("The backbone transformers", "transformers", "backbones")
    _check_folder(weights)
    size, mean, std = _picture_form(weights)
    model = _load(weights)
    patch = _pair(getattr(model.config, "patch_size", None))
    network = TransformersGrid(model, int(layer) if layer else None, patch).eval().requires_grad_(False)
    with torch.inference_mode():
        try:
            network(torch.zeros(1, 3, size[1], size[0]))
        except Exception as error:  # whatever a model of texts, or of other pictures, does with one
            raise RecipeError(
                f"{weights}: {type(model).__name__} gives no grid of features of pictures of"
                f" {size[0]} x {size[1]}: {fault(error)}"
            ) from error
    which = f"hidden_states[{layer}]" if layer else "last_hidden_state"
    return GridNetwork(network, size, mean, std, f"{which} of {type(model).__name__}")


def _check_folder(folder: Path) -> None:
    """Checks that the folder holds a model's weights as safetensors, and nothing that loads anything else."""
    names = sorted(path.name for path in folder.iterdir())
    for name in names:
        if Path(name).suffix.lower() in PICKLES:
            raise RecipeError(
                f"{folder}: it holds {name}, a pickle, which can run code as it is read. Take a folder with"
                " model.safetensors alone."
            )
        if name in NOT_READ:
            raise RecipeError(f"{folder}: it holds {name}; adapters are not read. Merge them into the model.")
    if WEIGHTS in names:
        return
    if PARTS not in names:
        raise RecipeError(f"{folder}: it holds no {WEIGHTS}. Save the model with save_pretrained.")
    parts = _json(folder / PARTS).get("weight_map")
    if not isinstance(parts, dict) or not all(
        isinstance(part, str) and PART.fullmatch(part) for part in parts.values()
    ):
        raise RecipeError(f"{folder / PARTS}: wanted the names of .safetensors files in this folder.")


def _load(folder: Path) -> Any:
    """Return the folder's vision model. Every weight must come from the folder."""
    library = import_silent("transformers")
    library.logging.set_verbosity_error()
    library.logging.disable_progress_bar()
    try:
        model, loaded = library.AutoModel.from_pretrained(
            str(folder),
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            attn_implementation="eager",  # the config's own may name code that is fetched
            dtype=torch.float32,
            output_loading_info=True,
        )
    except Exception as error:  # the library's errors are of all kinds, and some have many lines
        raise RecipeError(f"{folder}: transformers cannot load it: {fault(error)[:300]}") from error
    inside = hasattr(model, "vision_model")
    prefix = "vision_model." if inside else ""
    missing = sorted(
        name for name in loaded["missing_keys"] if name.startswith(prefix) and "pooler." not in name
    )
    if missing:
        raise RecipeError(f"{folder}: its weights lack {missing[0]} and {len(missing) - 1} more.")
    return model.vision_model if inside else model


def _picture_form(folder: Path) -> tuple[tuple[int, int], tuple[float, ...], tuple[float, ...]]:
    """Return the width and height, mean and deviation, as the folder's image processor defines them."""
    form: Mapping[str, Any] = {}
    for name in FORMS:
        if (folder / name).is_file():
            stated = _json(folder / name)
            form = stated.get("image_processor", stated)
            break
    wanted = "do_normalize" in form or "image_mean" in form
    if not wanted or not isinstance(form, Mapping):
        raise RecipeError(
            f"{folder}: it holds no {FORMS[0]}, so how its pictures are normalised is not known. Save the"
            " model's image processor there."
        )
    try:
        if abs(form.get("rescale_factor", 1 / 255) * 255 - 1) > 1e-6:
            raise ValueError(f"rescale_factor = {form['rescale_factor']} instead of 1/255")
        plain = form.get("do_normalize") is False
        mean = (0.0,) * 3 if plain else _numbers(form["image_mean"])
        std = (1.0,) * 3 if plain else _numbers(form["image_std"])
        if len(mean) != 3 or len(std) != 3 or min(std) <= 0:
            raise ValueError(f"image_mean = {mean}, image_std = {std}")
        cropped = form.get("do_center_crop") and "crop_size" in form
        return _size(form["crop_size"] if cropped else form["size"]), mean, std
    except (KeyError, TypeError, ValueError) as error:
        raise RecipeError(f"{folder}: its image processor is not supported ({fault(error)}).") from error


def _numbers(stated: Any) -> tuple[float, ...]:
    """Return a list of numbers. Raises TypeError or ValueError."""
    return tuple(float(one) for one in stated)


def _size(stated: Any) -> tuple[int, int]:
    """Return the width and height in a processor's size, which has one of three forms."""
    if isinstance(stated, Mapping) and "shortest_edge" in stated:
        stated = stated["shortest_edge"]
    height, width = (stated["height"], stated["width"]) if isinstance(stated, Mapping) else (stated, stated)
    if not (isinstance(height, int) and isinstance(width, int) and 0 < height <= 4096 and 0 < width <= 4096):
        raise ValueError(f"size = {stated}")
    return width, height


def _pair(patch: Any) -> tuple[int, int] | None:
    """Height and width of a patch, which a config gives as one number or as two."""
    if isinstance(patch, int):
        return patch, patch
    return (int(patch[0]), int(patch[1])) if isinstance(patch, list | tuple) and len(patch) == 2 else None


def _json(path: Path) -> Mapping[str, Any]:
    """Return the object in a JSON file. Raises RecipeError."""
    try:
        stated = read_json(read_regular_text(path))
    except (OSError, ValueError) as error:
        raise RecipeError(f"{path}: cannot be read ({error}).") from error
    if not isinstance(stated, dict):
        raise RecipeError(f"{path}: wanted a JSON object.")
    return stated
