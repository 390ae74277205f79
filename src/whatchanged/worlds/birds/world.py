"""The birds world: two drawn birds, and free sentences about the differences between them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from numpy.random import Generator

from whatchanged.records import PairRecord
from whatchanged.worlds import Breakdown, Drawer, TruthFiles, Verdict, World, WorldLanguage, WorldPictures
from whatchanged.worlds.birds.bird import Bird
from whatchanged.worlds.birds.language import (
    NO_DIFFERENCE,
    compare,
    describe,
    differences,
    is_true,
    reads,
    says_no_difference,
)
from whatchanged.worlds.birds.truth import TRUTH, read_truth

BirdsTruth = tuple[Bird, ...]
"""The birds in the pictures of a record: two birds, or one for a single picture."""

CAPTIONS = 4
"""The number of sentences that ``captions`` writes about a record."""

LIMITS = """It was trained only on drawn birds, which serve to try out a method: flat shapes in ten colors on
a plain ground. It knows nothing about real birds, and its sentences about photographs mean nothing."""


def has_truth(root: Path) -> bool:
    """Return whether the folder of a data set has a file that describes the birds in its pictures."""
    return (root / TRUTH).is_file()


def truths(root: Path, records: Sequence[PairRecord]) -> Mapping[str, BirdsTruth]:
    """Return the birds of every record by id, or {} if the folder does not describe the birds."""
    birds = read_truth(root)
    results: dict[str, BirdsTruth] = {}
    for record in records:
        names = [path.name for path in (record.before, record.after) if path is not None]
        if all(name in birds for name in names):
            results[record.pair_id] = tuple(birds[name] for name in names)
    return results


def kind_of(truth: BirdsTruth) -> str:
    """Return the kind of change: "different" for two birds that differ, otherwise "none"."""
    return "different" if len(truth) == 2 and differences(*truth) else "none"


def captions(truth: BirdsTruth, rng: Generator) -> tuple[str, ...]:
    """Return true sentences about one bird, or paragraphs that compare two birds."""
    if len(truth) == 1:
        return tuple(describe(truth[0], rng) for _ in range(CAPTIONS))
    return tuple(compare(truth[0], truth[1], rng) for _ in range(CAPTIONS))


def judged(sentence: str, truth: BirdsTruth) -> Verdict:
    """Return whether the sentence is true of the birds, as a verdict.

    The sentence counts as parsed if all its clauses can be parsed, or if one of the parsed clauses is false.
    """
    found = is_true(sentence, *truth)
    if found is None:
        return Verdict(False, False, False, {"true": False})
    true = found is True
    return Verdict(
        True, says_no_difference(sentence), true, {"true": true}, "" if true else "a clause is false"
    )


WORLD = World(
    name="birds",
    description="two drawn birds, and what differs between them",
    pictures=WorldPictures(datasets=(), view_and_light_differ=True, limits=LIMITS),
    truth=TruthFiles(has_truth, truths, kind_of),
    language=WorldLanguage(captions, reads, judged, NO_DIFFERENCE),
    breakdown=Breakdown(("different",), ("true",), {"true": "wholly true"}),
    drawers=(
        Drawer(
            "birds",
            "drawn birds in the layouts of Birds-to-Words, CUB and NABirds; one pair a scene; squares",
            "whatchanged.synth.birds.twin:draw_birds",
            (128, 128),
            unit="pairs",
        ),
    ),
)
