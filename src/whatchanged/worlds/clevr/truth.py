"""Read the truth of a rendered data set: ``scenes.json`` for pictures and ``pairs.json`` for pairs.

The entry of a picture contains the objects with their visibility, the camera with its matrix and directions,
and the lamps. A triple has three such entries, distinguished by ``split`` (default, semantic, nonsemantic),
and one pair entry. Only attributes, positions, camera and lamps are read, because they determine the other
values.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from whatchanged.errors import DatasetError
from whatchanged.json_values import read_json
from whatchanged.opening import read_regular_text
from whatchanged.worlds.clevr.change import CHANGE_TYPES, SceneChange, Triple
from whatchanged.worlds.clevr.scene import (
    COLORS,
    MATERIALS,
    SHAPES,
    SIZES,
    Point,
    Scene,
    SceneObject,
    View,
)

SCENES, PAIRS = "scenes.json", "pairs.json"
SPLITS = ("default", "semantic", "nonsemantic")
LAMPS = ("Lamp_Key", "Lamp_Fill", "Lamp_Back")

_T = TypeVar("_T", bound=str)


def read_triples(folder: Path) -> tuple[Triple, ...]:
    """Return the triples of a folder that contains ``scenes.json`` and ``pairs.json``, ordered by index.

    Raises ``DatasetError`` if a file is missing or is not JSON, or if an entry is invalid.
    """
    pictures = _load(folder / SCENES)
    if not isinstance(pictures, dict) or not isinstance(pictures.get("scenes"), list):
        raise DatasetError(f"{folder / SCENES}: expected an object with a list named 'scenes'.")
    pairs = _load(folder / PAIRS)
    if not isinstance(pairs, list):
        raise DatasetError(f"{folder / PAIRS}: expected a list of pairs, got {_kind(pairs)}.")
    scenes: dict[tuple[str, int], Scene] = {}
    for number, entry in enumerate(pictures["scenes"]):
        where = f"{folder / SCENES}, scene {number}"
        key = (
            _one_of(_get(entry, "split", where), SPLITS, f"{where}, split"),
            _index(entry, "image_index", where),
        )
        if key in scenes:
            raise DatasetError(f"{where}: the {key[0]} view of scene {key[1]} comes twice. Keep one of them.")
        scenes[key] = read_scene(entry, where)
    triples = [
        _read_triple(entry, scenes, f"{folder / PAIRS}, pair {number}") for number, entry in enumerate(pairs)
    ]
    return tuple(sorted(triples, key=lambda triple: triple.index))


def read_scene(entry: Mapping[str, Any], where: str = "scene") -> Scene:
    """Return the scene of a picture's entry. ``where`` begins the message of a ``DatasetError``."""
    objects = _get(entry, "objects", where)
    if not isinstance(objects, list):
        raise DatasetError(f"{where}: 'objects' should be a list, got {_kind(objects)}.")
    objects = tuple(_read_object(o, f"{where}, object {i}") for i, o in enumerate(objects))
    lamps = _get(entry, "lamps", where)
    key, fill, back = (_point(lamps, name, f"{where}, lamps") for name in LAMPS)
    return Scene(objects, View(_point(entry, "camera", where), (key, fill, back)))


def read_change(entry: Mapping[str, Any], where: str = "pair") -> SceneChange:
    """Return the change of a pair's entry. ``where`` begins the message of a ``DatasetError``."""
    kind = _one_of(_get(entry, "type", where), CHANGE_TYPES, f"{where}, type")
    before = None if _get(entry, "changed_before", where) is None else _index(entry, "changed_before", where)
    after = None if _get(entry, "changed_after", where) is None else _index(entry, "changed_after", where)
    wanted = (kind not in ("add", "none"), kind not in ("drop", "none"))
    if (before is not None, after is not None) != wanted:
        needs = " and ".join(n for n, w in zip(("changed_before", "changed_after"), wanted, strict=True) if w)
        raise DatasetError(
            f"{where}: type {kind} needs an index for {needs or 'neither'} and null for the rest, "
            f"got changed_before {before}, changed_after {after}."
        )
    return SceneChange(kind, before, after)


def _read_triple(entry: Mapping[str, Any], scenes: Mapping[tuple[str, int], Scene], where: str) -> Triple:
    index, change = _index(entry, "index", where), read_change(entry, where)
    missing = [name for name in SPLITS if (name, index) not in scenes]
    if missing:
        raise DatasetError(f"{where}: scenes.json has no {' and no '.join(missing)} view of scene {index}.")
    default, semantic, nonsemantic = (scenes[name, index] for name in SPLITS)
    for name, scene, which in (
        ("changed_before", default, change.before),
        ("changed_after", semantic, change.after),
    ):
        if which is not None and which >= len(scene.objects):
            raise DatasetError(f"{where}: {name} is {which}, but the scene has {len(scene.objects)} objects.")
    grown = len(semantic.objects) - len(default.objects)
    wanted = {"add": 1, "drop": -1}.get(change.type, 0)
    if grown != wanted or len(nonsemantic.objects) != len(default.objects):
        counts = ", ".join(f"{n} {len(scenes[n, index].objects)}" for n in SPLITS)
        raise DatasetError(
            f"{where}: the numbers of objects ({counts}) do not fit a change of type {change.type}."
        )
    return Triple(index, default, semantic, nonsemantic, change)


def _read_object(entry: Mapping[str, Any], where: str) -> SceneObject:
    x, y, _ = _point(entry, "3d_coords", where)
    rotation = _get(entry, "rotation", where)
    if not _number(rotation):
        raise DatasetError(f"{where}: 'rotation' should be a number of degrees, got {rotation!r}.")
    return SceneObject(
        shape=_one_of(_get(entry, "shape", where), SHAPES, f"{where}, shape"),
        size=_one_of(_get(entry, "size", where), SIZES, f"{where}, size"),
        color=_one_of(_get(entry, "color", where), COLORS, f"{where}, color"),
        material=_one_of(_get(entry, "material", where), MATERIALS, f"{where}, material"),
        x=x,
        y=y,
        rotation=float(rotation),
    )


def _load(path: Path) -> Any:
    try:
        return read_json(read_regular_text(path))
    except FileNotFoundError:
        raise DatasetError(
            f"{path}: no such file. The truth of a set is its scenes.json and pairs.json; a set without them "
            "cannot be judged against its scenes."
        ) from None
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path}: cannot read it as JSON: {error}. Copy or write it again.") from None


def _get(entry: Any, key: str, where: str) -> Any:
    if not isinstance(entry, Mapping):
        raise DatasetError(f"{where}: expected an object, got {_kind(entry)}.")
    if key not in entry:
        raise DatasetError(
            f"{where}: {key!r} is missing; there are {', '.join(map(str, entry)) or 'no keys'}."
        )
    return entry[key]


def _one_of(value: Any, known: tuple[_T, ...], where: str) -> _T:
    for candidate in known:
        if value == candidate:
            return candidate
    raise DatasetError(f"{where}: {value!r} is unknown; known are {', '.join(known)}.")


def _point(entry: Any, key: str, where: str) -> Point:
    value = _get(entry, key, where)
    if not isinstance(value, list) or len(value) != 3 or not all(_number(v) for v in value):
        raise DatasetError(f"{where}: {key!r} should be three finite numbers, got {value!r}.")
    return (float(value[0]), float(value[1]), float(value[2]))


def _index(entry: Any, key: str, where: str) -> int:
    value = _get(entry, key, where)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise DatasetError(f"{where}: {key!r} should be a whole number from 0 on, got {value!r}.")
    return value


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _kind(value: Any) -> str:
    return {dict: "an object", list: "a list", str: "a string", type(None): "null"}.get(
        type(value), repr(value)
    )
