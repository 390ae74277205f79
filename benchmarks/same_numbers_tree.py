"""Computes a source tree's losses, parameters and sentences, as JSON. ``same_numbers`` runs this program.

It uses only the command line and the recipe reader, which stay the same when the code behind them changes.
PYTHONPATH selects the tree.
"""

import argparse
import contextlib
import hashlib
import io
import json
import shutil
import sys
import tomllib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.shrink import STEPS, shrink, shrink_stages

VARIANTS = ("clevr-pcl+tokens", "own-finetune+init")
"""Cases beside the recipes: from stored tokens of a run's backbone, and from the shipped model's weights."""
BACKBONE, TOKENS = "backbone", "tokens"
"""Folders of what several cases share."""
NEED_WEIGHTS = ("own-finetune",)
"""Recipes that begin from another run's weights: here from those of the shrunk backbone."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Write OUT/numbers.json for the recipes named, and the sentences for ``--pairs``.

    It is written after each recipe, and what it holds is not computed again, so that a long run goes on where
    it was stopped; only what failed is tried again.
    """
    parser = argparse.ArgumentParser(description="What one source tree computes.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--recipe", action="append", default=[])
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--fp32", action="store_true", help="no bfloat16, whose sums differ by machine")
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    file = given.out / "numbers.json"
    numbers: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {"recipes": {}}
    for shared in (BACKBONE, TOKENS):  # perhaps not whole
        shutil.rmtree(given.out / shared, ignore_errors=True)
    for name in given.recipe or [*recipe_names(), *VARIANTS]:
        if "lines" in numbers["recipes"].get(name, {}):
            continue
        try:
            run = train_case(name, given.data, given.out, given.steps, given.fp32)
        except Exception as error:  # a tree under work: the other recipes still tell
            run = {"failed": f"{type(error).__name__}: {error}"}
        numbers["recipes"][name] = run
        _write(file, numbers)
        print(name, flush=True)
    if given.pairs is not None and "sentences" not in numbers:
        captions = given.out / "captions.jsonl"
        captions.unlink(missing_ok=True)
        numbers["sentences"] = caption(given.pairs, captions)
        print("sentences", flush=True)
    _write(file, numbers)


def _write(file: Path, numbers: dict[str, Any]) -> None:
    """The whole file or the one before."""
    draft = file.with_suffix(".draft")
    draft.write_text(json.dumps(numbers, indent=1))
    draft.replace(file)


def recipe_names() -> list[str]:
    """The recipes of the tree that is running."""
    package = find_spec("whatchanged")  # imports nothing of it
    if package is None or not package.submodule_search_locations:
        raise RuntimeError("PYTHONPATH names no source tree of whatchanged")
    folder = Path(package.submodule_search_locations[0]) / "recipes"
    return sorted(file.stem for file in folder.glob("*.toml"))


def recipe_table(name: str) -> dict[str, Any]:
    """A recipe with every setting spelled out, as TOML reads it."""
    from whatchanged.recipes import dump_recipe, load_recipe

    return tomllib.loads(dump_recipe(load_recipe(name)))


def train_case(name: str, data: Path, out: Path, steps: int = STEPS, fp32: bool = False) -> dict[str, Any]:
    """The logged lines of every stage of a case and a hash of each tensor that it ends with."""
    recipe, _, variant = name.partition("+")
    table = recipe_table(recipe)
    settings = (shrink_stages if variant == "init" else shrink)(table, steps)
    settings += _in_fp32(table) if fp32 else []
    places = _places(table, data)
    frozen = table["vision"].get("frozen")  # a vision that learns nothing reads what another run saw
    if variant == "tokens" or frozen:
        places += _stored_tokens(data, out, fp32)
    elif recipe in NEED_WEIGHTS and not variant:
        places += ["--init", str(_backbone(data, out, fp32))]
    elif variant == "init":
        places += ["--init", "clevr-pcl"]
    shutil.rmtree(out / name, ignore_errors=True)  # of an interrupted run
    _train(recipe, out / name, settings, places)
    lines = [json.loads(line) for line in (out / name / "metrics.jsonl").read_text().splitlines()]
    return {
        "lines": [{key: value for key, value in line.items() if key != "seconds"} for line in lines],
        "parameters": tensor_hashes(out / name / "checkpoints" / "last.safetensors"),
    }


def _train(recipe: str, run: Path, settings: Sequence[str], places: Sequence[str]) -> None:
    overrides = [part for setting in settings for part in ("--set", setting)]
    whatchanged("train", recipe, *places, "--output", str(run), "--device", "cpu", "--quiet", *overrides)


def _in_fp32(table: dict[str, Any]) -> list[str]:
    return [f"stage.{stage['name']}.precision=fp32" for stage in table["stages"] if "precision" in stage]


def _backbone(data: Path, out: Path, fp32: bool) -> Path:
    """The run of the shrunk backbone, trained where it is not there yet."""
    run, table = out / BACKBONE, recipe_table("clevr-see")
    if not run.exists():
        settings = [*shrink(table), *(_in_fp32(table) if fp32 else [])]
        _train("clevr-see", run, settings, _places(table, data))
    return run


def _stored_tokens(data: Path, out: Path, fp32: bool) -> list[str]:
    """Store the shrunk backbone's tokens of the pool; the options that use them."""
    run, tokens = str(_backbone(data, out, fp32)), str(out / TOKENS)
    if not Path(tokens).exists():
        command = ("features", str(data / "pool"), tokens, "--run", run, "--variants", "2")
        whatchanged(*command, "--device", "cpu", "--quiet")
    return ["--features", tokens, "--init", run]


def _places(table: dict[str, Any], data: Path) -> list[str]:
    """Options that say where the tiny data of a recipe lie."""
    if table["data"]["source"] == "pool":
        return ["--data", str(data / "pool")]
    birds = table["data"].get("preparation") == "pcl-birds"
    listed = table["name"].startswith("own-")
    folder = "birds/birds_to_words" if birds else "twin/pairs.csv" if listed else "twin"
    places = ["--data", str(data / folder)]
    if table["vision"]["kind"] == "features":
        places += ["--features", str(data / "features")]
    if any(stage.get("data") == "single" for stage in table["stages"]):
        places += ["--set", f'data.single="{data}/birds/cub"']
    if any("fgvc" in stage["tasks"] for stage in table["stages"]):
        places += ["--set", f'data.labelled="{data}/birds/nabirds"']
    return places


def tensor_hashes(checkpoint: Path) -> dict[str, str]:
    """Name -> hash of type, shape and bytes, of every tensor of the model."""
    from safetensors import safe_open

    hashes = {}
    with safe_open(checkpoint, framework="numpy") as file:
        for name in sorted(file.keys()):
            if name.startswith("model."):
                array = file.get_tensor(name)
                digest = hashlib.sha256(f"{array.dtype} {array.shape} ".encode() + array.tobytes())
                hashes[name.removeprefix("model.")] = digest.hexdigest()[:16]
    return hashes


def caption(pairs: Path, out: Path) -> list[dict[str, Any]]:
    """What ``whatchanged caption`` says of a data set with the shipped model, one entry a pair."""
    whatchanged("caption", str(pairs), "--output", str(out), "--quiet")
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def whatchanged(*arguments: str) -> None:
    """Run a command of the tree in this process; raises RuntimeError with its message where it fails."""
    from whatchanged.cli import main as command_line

    before, errors = sys.argv, io.StringIO()
    sys.argv = ["whatchanged", *arguments]
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
            command_line()
        code: Any = 0
    except SystemExit as stop:
        code = stop.code
    finally:
        sys.argv = before
    if code:
        raise RuntimeError(f"whatchanged {' '.join(arguments)}: exit code {code}\n{errors.getvalue()}")


if __name__ == "__main__":
    main()
