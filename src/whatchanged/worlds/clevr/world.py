"""The CLEVR world: scenes of simple solids with one changed object, two cameras and two lights."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from numpy.random import Generator

from whatchanged.records import PairRecord
from whatchanged.worlds import (
    Breakdown,
    Demo,
    Drawer,
    DrawerOption,
    TruthFiles,
    Verdict,
    World,
    WorldLanguage,
    WorldPictures,
)
from whatchanged.worlds.clevr.change import CHANGE_TYPES, SceneChange
from whatchanged.worlds.clevr.free_sentences import read_freely
from whatchanged.worlds.clevr.grading import ParsedStatement, contradicts_itself, judge_statement, parse
from whatchanged.worlds.clevr.language import NO_CHANGE, WORDINGS, Wording, write_captions, write_fixed
from whatchanged.worlds.clevr.scene import Scene
from whatchanged.worlds.clevr.truth import PAIRS, SCENES, read_change, read_scene, read_triples

SceneTruth = tuple[Scene, Scene, SceneChange]
"""The scene before, the scene after, and the change between them."""

FAULTS = {
    "type_right": "wrong type",
    "value_right": "wrong new value",
    "fits": "phrase does not fit",
    "fits_alone": "phrase fits others too",
}
"""The possible faults of a sentence, by grade, with the words that describe them.

The most serious fault comes first.
"""
VALUED = ("color", "material")
"""The types of change whose sentences state a new value."""

LIMITS = """Its world is CLEVR scenes: cubes, spheres and cylinders in eight colors, two sizes and two
materials on a grey ground. The two pictures of a pair may differ in camera and lights, and they show one
change or none. About photographs, screenshots, documents, drawings or other objects the model can only write
sentences about cubes, spheres and cylinders, and these mean nothing.

This card does not say how often the sentences about CLEVR scenes are true. Measure it with `whatchanged
evaluate`, and look at two kinds of scenes separately. In the first kind, a small object is hidden or cut off
by the frame in one of the two pictures. In the second kind, only a relation ("left of the small blue metal
cube") distinguishes the changed object from another one. The model understands cameras on a quite different
side of the scene only if it was trained on such pictures (`whatchanged synth clevr-pool --with views=mixed`).

A model that warns of unfamiliar pictures compares only their overall statistics. So it may miss close
imitations of CLEVR scenes. Even without a warning, a sentence may be false."""

TWIN = "in CLEVR-Change's layout, with sentences and full truth; two pairs a scene"
POOL_OPTIONS = (
    DrawerOption(
        "views",
        "where the cameras after stand: near the first one, anywhere around, lower than the first one, mixed"
        " (near and around, two to one), or all three alike",
        "jittered",
        choices=("jittered", "around", "low", "mixed", "all"),
    ),
    DrawerOption(
        "doubles",
        "the share of scenes in which only a relation tells the changed object from another",
        0.0,
        least=0.0,
        most=1.0,
    ),
)
DRAWERS = (
    Drawer(
        "clevr-change",
        f"scenes with the cameras of CLEVR-Change, {TWIN}",
        "whatchanged.synth.clevr.drawers:clevr_change",
        (480, 320),
        extra="train",
        elsewhere=True,
    ),
    Drawer(
        "clevr-dc",
        f"scenes with cameras anywhere around, as in CLEVR-DC, {TWIN}",
        "whatchanged.synth.clevr.drawers:clevr_dc",
        (480, 320),
        extra="train",
        elsewhere=True,
    ),
    Drawer(
        "clevr-low",
        f"scenes with later cameras that stand lower, so that objects hide each other, {TWIN}",
        "whatchanged.synth.clevr.drawers:clevr_low",
        (480, 320),
        extra="train",
        elsewhere=True,
    ),
    Drawer(
        "clevr-pool",
        "scenes to train on, in shards; a pool that is there grows",
        "whatchanged.training.objects.drawers:clevr_pool",
        (240, 160),
        options=POOL_OPTIONS,
        extra="train",
    ),
)


def has_truth(root: Path) -> bool:
    """Return whether the folder of a data set contains the files of its scenes."""
    return (root / SCENES).is_file() and (root / PAIRS).is_file()


def truths(root: Path, records: Sequence[PairRecord]) -> Mapping[str, SceneTruth]:
    """Return the truth of every pair in the folder of a data set, by pair id; {} if it contains none."""
    results: dict[str, SceneTruth] = {}
    if has_truth(root):
        for triple in read_triples(root):
            results[f"{triple.index:06d}.png"], results[f"{triple.index:06d}.png_n"] = triple.pairs()
    return results


def read(sentence: str) -> ParsedStatement | None:
    """Return the claims of a sentence, parsed by the data set's grammar or else as free English."""
    statement = parse(sentence)
    return read_freely(sentence) if statement is None else statement


def judged(sentence: str, truth: SceneTruth) -> Verdict:
    """Judge the claims of a sentence against the scenes.

    For a pair without change, only "called_none" is graded.

    type_right   the type of change is right
    value_right  the new color or material is right, for pairs that have one
    fits         the phrase describes the changed object
    fits_alone   the phrase describes the changed object and no other
    true         type, value and phrase are right
    """
    before, after, change = truth
    statement = read(sentence)
    found = judge_statement(statement, before, after, change)
    unchanged = statement is not None and statement.type == "none"
    grades: dict[str, bool | None] = {name: getattr(found, name) for name in FAULTS}
    if change.type not in VALUED:
        grades["value_right"] = None
    grades["true"] = found.true
    faults = [text for name, text in FAULTS.items() if not getattr(found, name)]
    if change.type == "none":
        grades = dict.fromkeys(grades, None)
        faults = []
    grades["called_none"] = unchanged
    return Verdict(found.parsed, unchanged, found.true, grades, faults[0] if found.parsed and faults else "")


def _written(truth: SceneTruth, wording: Wording) -> str:
    """Return the true sentence in a fixed wording."""
    return write_fixed(*truth, wording)


def _captions(truth: SceneTruth, rng: Generator) -> tuple[str, ...]:
    return write_captions(*truth, rng)


def _demo_truth(entry: Mapping[str, Any], where: str) -> SceneTruth:
    """Return the truth of one entry of demo.json."""
    return (
        read_scene(entry["scene_before"], where),
        read_scene(entry["scene_after"], where),
        read_change(entry["change"], where),
    )


WORLD = World(
    name="clevr",
    description="scenes of the CLEVR kind: one object recolored, remade, added, dropped or moved, or nothing",
    pictures=WorldPictures(("clevr_change", "clevr_dc"), view_and_light_differ=True, limits=LIMITS),
    truth=TruthFiles(has_truth, truths, kind_of=lambda truth: truth[2].type),
    language=WorldLanguage(
        captions=_captions,
        # Training uses only the data set's grammar. Judging also parses free English.
        reads=lambda sentence: parse(sentence) is not None,
        judge=judged,
        no_change_sentences=NO_CHANGE,
        wordings={wording: partial(_written, wording=wording) for wording in WORDINGS},
        false_captions="whatchanged.training.objects.clevr_negatives:mine",
        contradicts=contradicts_itself,
    ),
    breakdown=Breakdown(
        kinds=tuple(kind for kind in CHANGE_TYPES if kind != "none"),
        grades=(*FAULTS, "true", "called_none"),
        grade_titles={
            "value_right": "new value right",
            "fits": "phrase fits",
            "fits_alone": "phrase fits alone",
            "true": "wholly true",
            "called_none": "called no change",
        },
    ),
    drawers=DRAWERS,
    demo=Demo(
        folder=Path(__file__).parents[2] / "models" / "demo",
        truth=_demo_truth,
        true_sentence=partial(_written, wording="full"),
        true_means="type, new value, and a phrase that fits the changed object",
    ),
)
