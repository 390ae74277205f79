"""CLEVR as a world: scenes of cubes, spheres and cylinders, one thing changed, two cameras, two lights."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from whatchanged.records import PairRecord
from whatchanged.worlds import Verdict, World
from whatchanged.worlds.clevr.change import Change
from whatchanged.worlds.clevr.grading import judge, parse
from whatchanged.worlds.clevr.language import NO_CHANGE, write_fixed
from whatchanged.worlds.clevr.scene import Scene
from whatchanged.worlds.clevr.truth import read_triples

Truth = tuple[Scene, Scene, Change]
"""The scene before, the scene after, and what changed between them."""

FAULTS = {
    "type_right": "wrong type",
    "value_right": "wrong new value",
    "fits": "phrase does not fit",
    "fits_alone": "phrase fits others too",
}
"""What of a sentence may be wrong, and how it is told, the worst first."""
VALUED = ("color", "material")


def truths(root: Path, records: Sequence[PairRecord]) -> Mapping[str, Truth]:
    """The truth of every pair of a data set folder by its id; {} where the folder holds none."""
    if not (root / "scenes.json").is_file() or not (root / "pairs.json").is_file():
        return {}
    found: dict[str, Truth] = {}
    for triple in read_triples(root):
        found[f"{triple.index:06d}.png"], found[f"{triple.index:06d}.png_n"] = triple.pairs()
    return found


def judged(sentence: str, truth: Truth) -> Verdict:
    """The sentence executed on the scenes. Of a pair without change only "called none" is a grade.

    type_right; value_right, of the pairs that have a new color or material; fits: the phrase, executed on the
    scene, fits the changed object; fits_alone: and nothing else; true: type, value and phrase.
    """
    before, after, change = truth
    statement = parse(sentence)
    found = judge(sentence, before, after, change)
    unchanged = statement is not None and statement.type == "none"
    grades: dict[str, bool | None] = {name: getattr(found, name) for name in FAULTS}
    if change.type not in VALUED:
        grades["value_right"] = None
    grades["true"] = found.true
    if change.type == "none":
        grades = dict.fromkeys(grades, None)
    wrong = [text for name, text in FAULTS.items() if change.type != "none" and not getattr(found, name)]
    fault = "" if not found.parsed or not wrong else wrong[0]
    return Verdict(found.parsed, unchanged, found.true, {**grades, "called_none": unchanged}, fault)


def write(truth: Truth, wording: str) -> str:
    """One true sentence in a fixed wording."""
    before, after, change = truth
    return write_fixed(before, after, change, wording)  # type: ignore[arg-type]


WORLD = World(
    name="clevr",
    description="scenes of the CLEVR kind: one thing recoloured, remade, added, dropped or moved, or nothing",
    kinds=("color", "material", "add", "drop", "move"),
    view_and_light_differ=True,
    no_change_sentences=NO_CHANGE,
    datasets=("clevr_change", "clevr_dc"),
    grades=(*FAULTS, "true", "called_none"),
    truths=truths,
    kind_of=lambda truth: truth[2].type,
    judge=judged,
    wordings=("short", "full", "clear", "relational"),
    write=write,
    grade_titles={
        "value_right": "new value right",
        "fits": "phrase fits",
        "fits_alone": "phrase fits alone",
        "true": "wholly true",
        "called_none": "called no change",
    },
)
