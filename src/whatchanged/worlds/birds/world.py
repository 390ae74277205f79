"""Birds as a world: two drawn birds, what differs between them, in free sentences."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from whatchanged.records import PairRecord
from whatchanged.worlds import Verdict, World
from whatchanged.worlds.birds.bird import Bird
from whatchanged.worlds.birds.language import differences, is_true
from whatchanged.worlds.birds.twin import read_truth

Truth = tuple[Bird, ...]
"""The birds of a record's pictures: two, or one for a single picture."""


def truths(root: Path, records: Sequence[PairRecord]) -> Mapping[str, Truth]:
    """The birds of every record by its id; {} where the folder does not know its birds."""
    birds = read_truth(root)
    found: dict[str, Truth] = {}
    for record in records:
        names = [path.name for path in (record.before, record.after) if path is not None]
        if all(name in birds for name in names):
            found[record.pair_id] = tuple(birds[name] for name in names)
    return found


def judged(sentence: str, truth: Truth) -> Verdict:
    """Whether the sentence is true of the birds; one whose clauses cannot be read is not parsed."""
    found = is_true(sentence, *truth)
    return Verdict(
        found is not None, False, found is True, {"true": found is True}, "" if found else "a clause is false"
    )


def kind_of(truth: Truth) -> str:
    """ "different" for two birds that differ, else "none"."""
    return "different" if len(truth) == 2 and differences(*truth) else "none"


def write(truth: Truth, wording: str) -> str:
    """Raises ValueError: birds are described freely, in no fixed wording."""
    raise ValueError(f"birds have no fixed wording {wording!r}")


WORLD = World(
    name="birds",
    description="two drawn birds, and what differs between them",
    kinds=("different",),
    view_and_light_differ=True,
    no_change_sentences=(),
    datasets=("birds_to_words", "cub", "nabirds"),
    grades=("true",),
    truths=truths,
    kind_of=kind_of,
    judge=judged,
    wordings=(),
    write=write,
    grade_titles={"true": "wholly true"},
)
