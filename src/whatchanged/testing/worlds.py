"""Checks that a world does what the contract in ``whatchanged.worlds.World`` requires."""

import re
import tempfile
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np

from whatchanged.cli.demo import read_pairs
from whatchanged.cli.synth import drawing_function
from whatchanged.datasets import open_dataset
from whatchanged.plugins import fault
from whatchanged.testing.require import require
from whatchanged.worlds import Drawing, Truth, Verdict, World, world_of

UNREADABLE = ("", " ", ".", "xyzzy plugh", "the " * 500, "\N{SNOWMAN}", "a\nb", "<b>&amp;</b>")
"""Sentences that no world reads."""
FOREIGN_FALSE = 0.5
"""Share of the sentences about one pair that must be false of other pairs."""
_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def check_world(world: World, truths: Sequence[Truth], seed: int = 0) -> None:
    """Check a world on some truths: pairs that changed, of several kinds, and pairs that did not change.

    Sentences written about a pair must be parsed and judged true. Sentences about other pairs must be judged
    false, and so must sentences that are wrong about whether anything changed. A sentence that cannot be
    parsed is never true.
    """
    _check_facts(world)
    kinds = [world.truth.kind_of(truth) for truth in truths]
    for kind in kinds:
        known = (*world.breakdown.kinds, "none")
        require(kind in known, f"truth.kind_of gave {kind!r}; kinds are {', '.join(known)}")
    require(any(kind != "none" for kind in kinds), "give truths with a change")
    require("none" in kinds, "give truths without a change")
    written = [_check_sentences(world, truth, seed) for truth in truths]
    for truth, kind in zip(truths, kinds, strict=True):
        _check_no_change(world, truth, kind)
        _check_unreadable(world, truth)
    _check_foreign(world, truths, written)
    _check_without_truth(world)
    _check_demo(world)


def check_drawer(
    world: World,
    name: str,
    folder: Path,
    scenes: int,
    datasets: Sequence[str] = (".",),
    size: tuple[int, int] | None = None,
) -> None:
    """Check the data set that ``whatchanged synth NAME`` draws into new folders inside ``folder``.

    The same seed must give the same files with one worker and with two, and another seed other files.
    ``datasets`` are folders or lists inside the drawn folder. Each must be recognised and read, show this
    world, and come with truths for which all its captions are true.
    """
    drawer = next((drawer for drawer in world.drawers if drawer.name == name), None)
    if drawer is None:
        raise AssertionError(f"the world {world.name} has no drawer {name!r}")
    drawn = {}
    for out, seed, workers in (("first", 1, 1), ("again", 1, 2), ("other", 2, 1)):
        done: list[int] = []
        drawing = Drawing(
            folder / out, scenes, seed, size or drawer.size, workers, device="cpu", advance=done.append
        )
        said = drawing_function(drawer)(drawing, **{option.name: option.default for option in drawer.options})
        require(bool(said.strip()), f"{drawer.draw} should return what it drew, in words")
        require(sum(done) >= scenes, f"{drawer.draw} told of {sum(done)} of {scenes} scenes")
        drawn[out] = {
            path.relative_to(folder / out): path.read_bytes()
            for path in sorted((folder / out).rglob("*"))
            if path.is_file()
        }
    for path, content in drawn["first"].items():
        require(drawn["again"].get(path) == content, f"{path}: two workers write another file than one")
    require(drawn["again"].keys() == drawn["first"].keys(), "two workers write other files than one")
    require(drawn["other"] != drawn["first"], "another seed should draw another set")
    for part in datasets:
        _check_drawn(world, folder / "first" / part)


def _check_facts(world: World) -> None:
    """Checks the world's description of itself."""
    for name, text in (
        ("name", world.name),
        ("description", world.description),
        ("pictures.limits", world.pictures.limits),
    ):
        require(bool(text.strip()), f"{name} is empty")
    for name, values in (
        ("breakdown.kinds", world.breakdown.kinds),
        ("breakdown.grades", world.breakdown.grades),
        ("language.no_change_sentences", world.language.no_change_sentences),
        ("pictures.datasets", world.pictures.datasets),
    ):
        require(isinstance(values, tuple), f"{name} should be a tuple, got {values!r}")
        require(len(set(values)) == len(values), f"{name} has a value twice: {values}")
    require(bool(world.breakdown.kinds), "breakdown.kinds is empty")
    require(
        "none" not in world.breakdown.kinds,
        'breakdown.kinds holds "none", which stands for a pair without change',
    )
    if world.language.false_captions:
        _check_function("language.false_captions", world.language.false_captions)
    common = {field.name for field in fields(Drawing)} | {"world", "quiet"}
    for drawer in world.drawers:
        named = re.fullmatch(r"[a-z][a-z0-9-]*", drawer.name) is not None
        require(named, f"a drawer's name should be small letters, digits and dashes, got {drawer.name!r}")
        require(bool(drawer.description.strip()), f"{drawer.name}: description is empty")
        _check_function(f"{drawer.name}: draw", drawer.draw)
        for option in drawer.options:
            require(option.name.isidentifier(), f"{drawer.name}: the option {option.name!r} is no keyword")
            require(option.name not in common, f"{drawer.name}: every drawer has the option {option.name!r}")
            allowed = not option.choices or option.default in option.choices
            require(allowed, f"{drawer.name}: the default of {option.name!r} is not among its choices")


def _check_function(what: str, value: str) -> None:
    require(_FUNCTION.fullmatch(value) is not None, f'{what} should be "module:function", got {value!r}')


def _check_sentences(world: World, truth: Truth, seed: int) -> tuple[str, ...]:
    """Checks that sentences written about a pair can be parsed and are true of it; returns these
    sentences.
    """
    captions = world.language.captions(truth, np.random.default_rng(seed))
    require(bool(captions), "language.captions wrote no sentence")
    again = world.language.captions(truth, np.random.default_rng(seed))
    require(captions == again, f"captions wrote {captions} and, from the same seed, {again}")
    fixed = tuple(world.write(truth, wording) for wording in world.language.wordings)
    unchanged = world.truth.kind_of(truth) == "none"
    for sentence in (*captions, *fixed):
        require(world.language.reads(sentence), f"a sentence that was written is not read: {sentence!r}")
        verdict = _judge(world, sentence, truth)
        require(verdict.parsed, f"a sentence that was written is not parsed: {sentence!r}")
        require(verdict.true, f"a sentence that was written is not true: {sentence!r}, {verdict}")
        require(
            verdict.unchanged == unchanged,
            f"{sentence!r} was written about a pair of kind {world.truth.kind_of(truth)}; judged {verdict}",
        )
    return captions


def _check_no_change(world: World, truth: Truth, kind: str) -> None:
    """Checks that no-change sentences are true of unchanged pairs, and of no other pair."""
    for sentence in world.language.no_change_sentences:
        require(world.language.reads(sentence), f"a no-change sentence is not read: {sentence!r}")
        verdict = _judge(world, sentence, truth)
        require(verdict.unchanged, f"judged not to say that nothing changed: {sentence!r}")
        require(verdict.true == (kind == "none"), f"{sentence!r} of a pair of kind {kind}: {verdict}")


def _check_unreadable(world: World, truth: Truth) -> None:
    for sentence in UNREADABLE:
        require(not world.language.reads(sentence), f"this is read as a sentence: {sentence!r}")
        _judge(world, sentence, truth)


def _check_foreign(world: World, truths: Sequence[Truth], written: Sequence[tuple[str, ...]]) -> None:
    """Judges sentences about one pair by the truths of the others."""
    kinds = [world.truth.kind_of(truth) for truth in truths]
    judged = []
    for i, captions in enumerate(written):
        for j, truth in enumerate(truths):
            if i == j or kinds[i] == kinds[j] == "none":
                continue
            results = [_judge(world, sentence, truth).true for sentence in captions]
            if "none" not in (kinds[i], kinds[j]):
                judged += results
            elif True in results:
                sentence = captions[results.index(True)]
                raise AssertionError(
                    f"{sentence!r}, of a pair of kind {kinds[i]}, is judged true of one of kind {kinds[j]}"
                )
    false = judged.count(False)
    require(
        false >= FOREIGN_FALSE * len(judged),
        f"only {false} of {len(judged)} sentences are false of other pairs that changed",
    )


def _check_without_truth(world: World) -> None:
    """Checks a folder and a list that hold no truth."""
    with tempfile.TemporaryDirectory() as name:
        listed = Path(name) / "pairs.csv"
        listed.write_text("before,after\n", encoding="utf-8")
        for root in (Path(name), listed, Path(name) / "absent"):
            require(not world.truth.exists(root), f"truth.exists of what holds none: {root.name}")
            require(dict(world.truth.read(root, ())) == {}, f"truth.read of what holds none: {root.name}")


def _check_demo(world: World) -> None:
    if world.demo is None:
        return
    pairs = read_pairs(world.demo)
    require(bool(pairs), "the demonstration has no pairs")
    for pair in pairs:
        for path in (pair.before, pair.after):
            require(path.is_file(), f"{path}: the demonstration's picture is missing")
        sentence = world.demo.true_sentence(pair.truth)
        true = _judge(world, sentence, pair.truth).true
        require(true, f"the demonstration's sentence is false: {sentence!r}")


def _check_drawn(world: World, path: Path) -> None:
    """Reads back a data set that a drawer wrote."""
    dataset = open_dataset(path)
    found = world_of(dataset.name, path)
    require(
        found is not None and found.name == world.name,
        f"{path}: it should show the world {world.name}, found {None if found is None else found.name}",
    )
    truths = world.truth.read(path, dataset.records)
    for record in dataset.records:
        who = f"{path}: the pair {record.pair_id}"
        require(record.pair_id in truths, f"{who} has no truth")
        truth = truths[record.pair_id]
        kind = world.truth.kind_of(truth)
        require(record.change_type in (None, kind), f"{who}: {record.change_type}, in truth {kind}")
        agrees = record.changed in (None, kind != "none")
        require(agrees, f"{who}: changed is {record.changed}, in truth {kind}")
        for caption in record.captions:
            verdict = _judge(world, caption, truth)
            require(verdict.true, f"{who}: a caption is not true: {caption!r}, {verdict}")


def _judge(world: World, sentence: str, truth: Truth) -> Verdict:
    """The verdict, after a check that it is a possible one."""
    try:
        verdict = world.language.judge(sentence, truth)
    except Exception as error:
        raise AssertionError(f"judging {sentence!r} failed: {fault(error)}") from error
    require(
        set(verdict.grades) == set(world.breakdown.grades),
        f"grades of {sentence!r}: {sorted(verdict.grades)}; the world's are {sorted(world.breakdown.grades)}",
    )
    if verdict.parsed:
        require(world.language.reads(sentence), f"{sentence!r} is parsed by judge, but not read by reads")
    else:
        claimed = verdict.true or verdict.unchanged or True in verdict.grades.values()
        require(not claimed, f"{sentence!r} is not parsed, yet something is right about it: {verdict}")
    return verdict
