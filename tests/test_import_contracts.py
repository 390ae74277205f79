"""The contracts of import-linter name every room, so that a new one is not forgotten."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOUSE = ROOT / "src" / "whatchanged"
CONTRACTS = {
    contract["name"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
}


def rooms(folder: Path) -> set[str]:
    """The modules and packages in a folder of the package, by their whole names."""
    prefix = "whatchanged." + "".join(f"{part}." for part in folder.relative_to(HOUSE).parts)
    results = {path.stem for path in folder.glob("*.py") if path.stem != "__init__"}
    results |= {path.parent.name for path in folder.glob("*/__init__.py")}
    return {prefix + name for name in results}


def test_every_room_but_the_worlds_is_forbidden_to_know_one():
    contract = CONTRACTS["Nothing knows a world but the worlds, their drawers and their packages in training"]
    assert set(contract["source_modules"]) == rooms(HOUSE) - {"whatchanged.worlds"}
    assert contract["forbidden_modules"] == ["whatchanged.worlds.*"]  # a new world, too
    assert rooms(HOUSE / "worlds") >= {"whatchanged.worlds.birds", "whatchanged.worlds.clevr"}


def test_every_room_of_the_ground_floor_is_kept_from_torch():
    above = {f"whatchanged.{room}" for room in ("cli", "synth", "testing", "training", "__main__")}
    contract = CONTRACTS["The base layer never imports torch"]
    assert set(contract["source_modules"]) == rooms(HOUSE) - above


def rooms_of_layers(name: str) -> list[str]:
    """The rooms that a contract orders, the highest layer first."""
    return [room.strip() for layer in CONTRACTS[name]["layers"] for room in layer.split("|")]


@pytest.mark.parametrize(
    ("name", "folder", "free"),
    [
        ("The layers of the package", HOUSE, {"whatchanged.__main__"}),
        ("The layers of training", HOUSE / "training", set()),
        ("The layers of what is measured", HOUSE / "measured", set()),
        ("The layers of evaluation", HOUSE / "evaluation", set()),
    ],
)
def test_every_room_has_its_place_among_the_layers(name, folder, free):
    ordered = rooms_of_layers(name)
    assert sorted(ordered) == sorted(rooms(folder) - free)  # each once


def test_rooms_of_one_layer_are_independent():
    """A colon would let rooms of one layer import each other, in either direction."""
    layers = [layer for contract in CONTRACTS.values() for layer in contract.get("layers", ())]
    assert layers and not any(":" in layer for layer in layers)
