"""What a command wrote, held against what an unbroken run writes."""

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from kills.commands import Command

Snapshot = Mapping[str, bytes]
"""Path below the folder -> content; of a run folder, what does not depend on the clock."""


def snapshot(command: Command, place: Path) -> dict[str, bytes]:
    """All that a command wrote."""
    if command.kind == "run":
        return _run(place / command.outputs[0])
    results = {}
    for name in command.outputs:
        path = place / name
        files = [path] if path.is_file() else sorted(path.rglob("*"))
        for file in files:
            relative = file.relative_to(place)
            if file.is_file() and not any(part.startswith(".") for part in relative.parts):
                rights = f"{file.stat().st_mode:o} ".encode() if command.kind == "replaced" else b""
                results[str(relative)] = rights + file.read_bytes()
    return results


def differences(command: Command, place: Path, expected: Snapshot) -> list[str]:
    """Files that are not what an unbroken run writes, or are missing, or should not be there."""
    results = snapshot(command, place)
    names = expected.keys() | results.keys()
    wrong = sorted(name for name in names if expected.get(name) != results.get(name))
    tops = {name.split("/")[0] for name in (*command.outputs, *command.beside)}
    strange = [
        path.name for path in place.iterdir() if path.name not in {*tops, "in"} and path.name[0] != "."
    ]
    return wrong + strange


def torn(command: Command, place: Path, expected: Snapshot, before: Mapping[str, bytes]) -> list[str]:
    """Outputs that are neither whole, nor what was there before, nor whole as far as their kind asks."""
    if command.kind == "run":
        return _torn_run(place / command.outputs[0])
    results = snapshot(command, place)
    wrong = []
    for name, content in results.items():
        if content in (expected.get(name), before.get(name)):
            continue
        if any(fnmatchcase(name, pattern) for pattern in command.meanwhile) and _is_json(content):
            continue
        grows = (command.kind == "grows" and name == command.outputs[0]) or name.endswith("answers.jsonl")
        if not (grows and expected.get(name, b"").startswith(content)):
            wrong.append(name)
    if command.kind == "replaced":
        wrong += sorted(expected.keys() - results.keys())
    if command.kind == "whole":
        for name in command.outputs:
            if (place / name).is_dir():
                inside = {key for key in expected if key.startswith(f"{name}/")}
                wrong += sorted(inside - results.keys())
    return wrong


def _is_json(content: bytes) -> bool:
    """Whether it is a whole text of JSON, or whole lines of it."""
    texts = [content] if content.startswith(b"{\n") else content.splitlines()
    try:
        return all(isinstance(json.loads(text), dict) for text in texts) and content.endswith(b"\n")
    except ValueError:
        return False


def hidden(place: Path) -> list[str]:
    """Drafts and locks that lie about."""
    return sorted(str(path.relative_to(place)) for path in place.rglob(".*"))


def _run(run: Path) -> dict[str, bytes]:
    """Logged numbers and weights of a run, without the clock."""
    from whatchanged.training.checkpoint import digest, read_checkpoint

    last = run / "checkpoints" / "last.safetensors"
    if not last.is_file() or not (run / "metrics.jsonl").is_file():
        return {}
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    logged = [{key: value for key, value in line.items() if key != "seconds"} for line in lines]
    saved = read_checkpoint(last)
    model = {name: tensor for name, tensor in saved.tensors.items() if name.startswith("model.")}
    names = sorted(path.name for path in (run / "checkpoints").iterdir())
    return {
        "metrics": json.dumps(logged).encode(),
        "weights": digest(model).encode(),
        "finished": str(saved.state.finished).encode(),
        "recipe": (run / "recipe.toml").read_text().replace(str(run.parent), "").encode(),
        "checkpoints": json.dumps(names).encode(),
    }


def _torn_run(run: Path) -> list[str]:
    """Files of a run that cannot be read."""
    from whatchanged.errors import WhatchangedError
    from whatchanged.training.checkpoint import read_checkpoint
    from whatchanged.training.run_folder import read_recipe

    wrong = []
    if not run.exists():
        return []
    for path in sorted((run / "checkpoints").glob("*.safetensors")):
        try:
            read_checkpoint(path)
        except WhatchangedError as error:
            wrong.append(f"{path.name}: {error}")
    if (run / "checkpoints").is_dir():
        read_recipe(run)
    return wrong
