r"""Prepares and counts blind readings: a reader judges sentences without knowing which system wrote them.

    python -m benchmarks.screens.blind_reading choose $UI_DEV --seed 44 --changed 60 --unchanged 15 > LIST
    python -m benchmarks.screens.blind_reading sheet $UI_DEV LIST \
        --state before=A.jsonl --state after=B.jsonl -o SHEET
    python -m benchmarks.screens.blind_reading count SHEET/key.json VERDICTS
    python -m benchmarks.screens.blind_reading against $UI_DEV --seed 45 --pairs 60 \
        --state rules=A.jsonl --state network=B.jsonl -o SHEET
    python -m benchmarks.screens.blind_reading prefer SHEET/key.json PREFERENCES

``choose`` writes the seed and the ids: pairs with a visible change and pairs without one, drawn at random.
``sheet`` writes for the reader

    SHEET/items.jsonl   {"item", "picture", "sentence"}, the sentences of all states in one random order
    SHEET/pictures/     before and after side by side, one PNG a pair

and, not for the reader, ``key.json``: the pair and the state of each item. A state is a file of answers with
the fields ``id`` and ``caption``. A sentence that all states share is one item.

The reader is given ``DEFINITIONS`` and writes VERDICTS, a JSON line an item: ``item``, ``own`` (his own
sentence, written first), ``verdict``, ``reason``. ``count`` prints how often each state got each verdict.

``against`` draws changed pairs at random for which two states give different sentences, and asks which one is
better. An item has the sentences ``one`` and ``two``, in a random order. PREFERENCES is a JSON line an item:
``item``, ``own``, ``better`` ("one", "two" or "same"), ``one`` and ``two`` (a verdict each), ``reason``.
"""

import argparse
import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from benchmarks.markdown import table

VERDICTS = ("useful", "true-vague", "partly", "false", "missed", "false alarm", "right")
DEFINITIONS = """\
useful       true, and names the thing (by a noun, by words written on it, or by its place beside words) and
             tells how it changed; "something was added" is not useful
true-vague   true, but names no thing, or not how it changed
partly       a part of it is wrong, or it tells a consequence in place of the cause
false        wrong
missed       it says that nothing visible changed, and something did
false alarm  it says that something changed, and nothing visible did
right        it says that nothing visible changed, and so it is
"""
GAP = 12
"""Pixels of grey between the two pictures."""


def choose(folder: Path, seed: int, changed: int, unchanged: int) -> dict[str, Any]:
    """The seed, and the ids of pairs that were labelled with and without a visible change."""
    pairs = _pairs(folder).values()
    rng = random.Random(seed)
    chosen = {}
    for name, label, count in (("changed", "yes", changed), ("unchanged", "no", unchanged)):
        ids = sorted(one["id"] for one in pairs if one["visible_change"] == label)
        chosen[name] = sorted(rng.sample(ids, count))
    return {"seed": seed, **chosen}


def write_sheet(folder: Path, chosen: dict[str, Any], states: dict[str, Path], out: Path) -> None:
    """What the reader is given, and the key, from the answers of each state."""
    pairs = _pairs(folder)
    spoken: dict[tuple[str, str], list[str]] = {}
    for state, path in states.items():
        answers = {one["id"]: one["caption"] for one in _lines(path)}
        for pair in (*chosen["changed"], *chosen["unchanged"]):
            spoken.setdefault((pair, answers[pair]), []).append(state)
    order = list(spoken)
    random.Random(chosen["seed"]).shuffle(order)
    (out / "pictures").mkdir(parents=True)
    pictures = {pair: f"pictures/{at:03}.png" for at, pair in enumerate(dict.fromkeys(p for p, _ in order))}
    for pair, name in pictures.items():
        _side_by_side(folder / pairs[pair]["before"], folder / pairs[pair]["after"]).save(out / name)
    items, key = [], {}
    for number, (pair, sentence) in enumerate(order):
        items.append({"item": number, "picture": pictures[pair], "sentence": sentence})
        key[str(number)] = {"id": pair, "states": spoken[pair, sentence]}
    _write_items(items, key, out)


def count(key: dict[str, Any], verdicts: Sequence[dict[str, Any]]) -> dict[str, Counter[str]]:
    """State -> verdict -> how often.

    Raises ValueError where a verdict is unknown, or the items are not those of the key.
    """
    _check_items(key, verdicts, "verdict")
    counts: dict[str, Counter[str]] = {}
    for one in verdicts:
        if one["verdict"] not in VERDICTS:
            raise ValueError(f"item {one['item']}: no verdict is called {one['verdict']!r}")
        for state in key[str(one["item"])]["states"]:
            counts.setdefault(state, Counter())[one["verdict"]] += 1
    return counts


def write_choices(folder: Path, seed: int, size: int, states: dict[str, Path], out: Path) -> list[str]:
    """A sheet of ``size`` changed pairs of which two states differ, and its key; returns the pairs' ids.

    Raises ValueError where there are not as many.
    """
    pairs = _pairs(folder)
    said = {state: {one["id"]: one["caption"] for one in _lines(path)} for state, path in states.items()}
    first, second = said.values()
    changed = sorted(name for name, one in pairs.items() if one["visible_change"] == "yes")
    differ = [name for name in changed if first[name] != second[name]]
    if len(differ) < size:
        raise ValueError(f"the two states differ in {len(differ)} pairs")
    rng = random.Random(seed)
    chosen = rng.sample(differ, size)
    (out / "pictures").mkdir(parents=True)
    items, key = [], {}
    for number, pair in enumerate(chosen):
        picture = f"pictures/{number:03}.png"
        _side_by_side(folder / pairs[pair]["before"], folder / pairs[pair]["after"]).save(out / picture)
        order = rng.sample(sorted(said), 2)
        one, two = (said[state][pair] for state in order)
        items.append({"item": number, "picture": picture, "one": one, "two": two})
        key[str(number)] = {"id": pair, "one": order[0], "two": order[1]}
    _write_items(items, key, out)
    return chosen


def count_preferences(key: dict[str, Any], read: Sequence[dict[str, Any]]) -> dict[str, Counter[str]]:
    """State -> how often it was preferred ("better"), and each verdict; "same" -> how often neither was.

    Raises ValueError where an answer is unknown, or the items are not those of the key.
    """
    _check_items(key, read, "answer")
    counts: dict[str, Counter[str]] = {}
    for one in read:
        about = key[str(one["item"])]
        if one["better"] not in ("one", "two", "same") or not {one["one"], one["two"]} <= set(VERDICTS):
            raise ValueError(f"item {one['item']}: no such answer")
        better = about.get(one["better"], "same")
        counts.setdefault(better, Counter())["better"] += 1
        for which in ("one", "two"):
            counts.setdefault(about[which], Counter())[one[which]] += 1
    return counts


def _write_items(items: Sequence[dict[str, Any]], key: dict[str, Any], out: Path) -> None:
    """What the reader is given beside the pictures, and the key."""
    (out / "items.jsonl").write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in items))
    (out / "definitions.txt").write_text(DEFINITIONS)
    (out / "key.json").write_text(json.dumps(key, indent=1))


def _check_items(key: dict[str, Any], read: Sequence[dict[str, Any]], what: str) -> None:
    """That there is one line, a verdict or an answer, for every item of the key. Raises ValueError."""
    if sorted(str(one["item"]) for one in read) != sorted(key):
        raise ValueError(f"not one {what} for every item")


def _side_by_side(before: Path, after: Path) -> Image.Image:
    """Two pictures on grey, the old one at the left (above, where they are broad)."""
    one, other = (Image.open(path).convert("RGB") for path in (before, after))
    width, height = max(one.width, other.width), max(one.height, other.height)
    below = width > height
    size = (width, one.height + GAP + other.height) if below else (one.width + GAP + other.width, height)
    both = Image.new("RGB", size, (128, 128, 128))
    both.paste(one, (0, 0))
    both.paste(other, (0, one.height + GAP) if below else (one.width + GAP, 0))
    return both


def _pairs(folder: Path) -> dict[str, dict[str, Any]]:
    return {one["id"]: one for one in _lines(folder / "pairs.jsonl")}


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Sentences read blind.")
    actions = parser.add_subparsers(dest="action", required=True)
    chooser = actions.add_parser("choose")
    chooser.add_argument("folder", type=Path)
    chooser.add_argument("--seed", type=int, required=True)
    chooser.add_argument("--changed", type=int, default=60)
    chooser.add_argument("--unchanged", type=int, default=15)
    sheet = actions.add_parser("sheet")
    sheet.add_argument("folder", type=Path)
    sheet.add_argument("list", type=Path)
    sheet.add_argument("--state", action="append", required=True, metavar="NAME=ANSWERS")
    sheet.add_argument("-o", "--output", type=Path, required=True)
    for name in ("count", "prefer"):
        counter = actions.add_parser(name)
        counter.add_argument("key", type=Path)
        counter.add_argument("verdicts", type=Path)
    against = actions.add_parser("against")
    against.add_argument("folder", type=Path)
    against.add_argument("--seed", type=int, required=True)
    against.add_argument("--pairs", type=int, default=60)
    against.add_argument("--state", action="append", required=True, metavar="NAME=ANSWERS")
    against.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args(arguments)
    if given.action == "choose":
        print(json.dumps(choose(given.folder, given.seed, given.changed, given.unchanged), indent=1))
    elif given.action in ("sheet", "against"):
        states = {name: Path(path) for name, path in (one.split("=", 1) for one in given.state)}
        if given.action == "sheet":
            write_sheet(given.folder, json.loads(given.list.read_text()), states, given.output)
        else:
            write_choices(given.folder, given.seed, given.pairs, states, given.output)
    else:
        counting = count if given.action == "count" else count_preferences
        counts = counting(json.loads(given.key.read_text()), _lines(given.verdicts))
        columns = [*(["better"] if given.action == "prefer" else []), *VERDICTS]
        rows = [[state, *(str(found[column]) for column in columns)] for state, found in counts.items()]
        print(table(["state", *columns], *rows))


if __name__ == "__main__":
    main()
