"""Three data sets of drawn birds in one folder, in the layouts of the real ones.

    OUT/birds_to_words/   birds-to-words-v1.0.tsv, images/<number>.jpg      N pairs, 4 or 5 paragraphs each
    OUT/cub/              CUB_200_2011/ and birds/text/                     3 N pictures, 10 sentences each
    OUT/nabirds/          images.txt, classes.txt, hierarchy.txt, ...       6 N pictures, class labels
    .../birds.json        in each set: the bird of every picture, by which captions are judged

The sets share their species, but no picture. Pair i or picture i of a set depends only on (seed, i) and the
number of species. Of ten pairs, eight belong to the training split, one to validation and one to test; of
four single pictures, three belong to training.
"""

import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from whatchanged.datasets.birds_to_words import COLUMNS
from whatchanged.errors import OutputError
from whatchanged.files import whole_folder
from whatchanged.processes import worker_pool
from whatchanged.synth.birds.drawing import any_view, draw
from whatchanged.synth.birds.species import PER_GENUS, Species, species
from whatchanged.worlds import Drawing
from whatchanged.worlds.birds.bird import Bird
from whatchanged.worlds.birds.language import compare, describe
from whatchanged.worlds.birds.truth import TRUTH

MOST_SPECIES = 60
SINGLES, LABELLED = 3, 6
"""Pictures in the sets with CUB's and with NABirds' layout, for each pair."""
FIRST_PHOTO = 10_000_000
LEAST_SIDE, MOST_SIDE = 32, 1024
LEAST_PAIRS = 10
TASK = 20
"""Pictures that a worker draws in one task."""


@dataclass(frozen=True)
class _Picture:
    """A picture to draw: its path in the folder, its bird's species, the seed of its random numbers."""

    path: str
    species: Species
    seed: tuple[int, ...]

    def bird(self) -> Bird:
        return self.species.bird(np.random.default_rng((*self.seed, 0)))


def draw_birds(drawing: Drawing) -> str:
    """Draw the sets, for ``whatchanged synth birds``. This needs no extra."""
    width, height = drawing.size
    if width != height:
        raise OutputError(f"--size {width}x{height}: birds are drawn on squares. Choose {width}x{width}.")
    pairs = drawing.scenes
    write_birds(drawing.out, pairs, drawing.seed, width, drawing.workers, drawing.advance)
    return f"{pairs:,} pairs, {SINGLES * pairs:,} captioned and {LABELLED * pairs:,} labelled pictures"


def write_birds(
    out: Path,
    pairs: int,
    seed: int = 0,
    size: int = 128,
    workers: int = 1,
    advance: Callable[[int], None] | None = None,
    tested: int = 0,
    most: int = MOST_SPECIES,
) -> None:
    """Write the three sets to the new folder ``out``; it appears when it is complete.

    size: pixels of a side. advance: called with the number of newly drawn pairs, with their single pictures.
    tested: further pairs, all in the test split, so that a method with a small training set can be evaluated
    on many pairs. most: the largest number of species; there are at least two genera.

    Raises OutputError where the folder exists already, its parent does not, or a number is out of range.
    """
    _check(out, pairs, size, workers)
    kinds = [species(seed, number) for number in range(species_count(pairs, most))]
    try:
        with whole_folder(out) as draft:
            pictures = [
                *_write_pairs(draft / "birds_to_words", pairs, tested, seed, kinds),
                *_write_singles(draft / "cub", SINGLES * pairs, seed, kinds),
                *_write_labelled(draft / "nabirds", LABELLED * pairs, seed, kinds, size),
            ]
            for part in {(draft / picture.path).parent for picture in pictures}:
                part.mkdir(parents=True, exist_ok=True)
            done, share = 0, len(pictures) / pairs
            for count in _draw_all(draft, pictures, size, workers):
                done += count
                if advance is not None:
                    advance(int(done / share) - int((done - count) / share))
    except OSError as error:
        raise OutputError(f"{out}: cannot write it: {error.strerror or error}.") from error


def species_count(pairs: int, most: int = MOST_SPECIES) -> int:
    """Return how many species a set with this number of pairs has."""
    return max(2 * PER_GENUS, min(most, pairs // 5))


def _check(out: Path, pairs: int, size: int, workers: int) -> None:
    if out.exists():
        raise OutputError(f"{out}: exists already. Choose another name, or remove it first.")
    if not out.absolute().parent.is_dir():
        raise OutputError(f"{out}: the folder {out.absolute().parent} is not there. Make it first.")
    if pairs < LEAST_PAIRS or workers < 1:
        raise OutputError(
            f"{out}: wants at least {LEAST_PAIRS} pairs (one to test on) and one worker, got {pairs} and"
            f" {workers}."
        )
    if not LEAST_SIDE <= size <= MOST_SIDE:
        raise OutputError(f"{out}: sides from {LEAST_SIDE} to {MOST_SIDE} pixels can be drawn, got {size}.")


def _draw_all(draft: Path, pictures: Sequence[_Picture], size: int, workers: int) -> Iterator[int]:
    parts = [pictures[start : start + TASK] for start in range(0, len(pictures), TASK)]
    task = partial(_draw_part, draft, size)
    if workers == 1:
        yield from map(task, parts)
        return
    with worker_pool(workers) as pool:
        yield from pool.map(task, parts)


def _draw_part(draft: Path, size: int, pictures: Sequence[_Picture]) -> int:
    for picture in pictures:
        view = any_view(np.random.default_rng((*picture.seed, 1)))
        draw(picture.bird(), view, size).save(draft / picture.path, quality=92)
    return len(pictures)


def _write_pairs(root: Path, pairs: int, tested: int, seed: int, kinds: Sequence[Species]) -> list[_Picture]:
    """Write Birds-to-Words' table. A sixth of the pairs show one species, a third two species of one
    genus.
    """
    pictures: list[_Picture] = []
    rows = ["\t".join(COLUMNS)]
    for number in range(pairs + tested):
        rng = np.random.default_rng((seed, 10, number))
        first = kinds[int(rng.integers(len(kinds)))]
        second, selection = _partner(first, kinds, rng)
        ids = [FIRST_PHOTO + 2 * number + side for side in (0, 1)]
        sides = [
            _Picture(f"{root.name}/images/{photo}.jpg", kind, (seed, 11, photo))
            for photo, kind in zip(ids, (first, second), strict=True)
        ]
        split = "val" if number % 10 == 8 else "test" if number % 10 == 9 else "train"
        split = split if number < pairs else "test"
        birds = [side.bird() for side in sides]
        for annotator in range(int(rng.integers(4, 6))):
            text = compare(birds[0], birds[1], rng)
            columns = [
                part
                for photo, side, chosen in zip(ids, sides, ("base", selection), strict=True)
                for part in (f"drawn/{photo}", f"drawn/{photo}/large.jpg", side.species.name, chosen)
            ]
            rows.append("\t".join([*columns, split, str(annotator + 1), f'"{text}"']))
        pictures += sides
    _write(root / "birds-to-words-v1.0.tsv", rows)
    _write_truth(root, pictures)
    return pictures


def _partner(first: Species, kinds: Sequence[Species], rng: np.random.Generator) -> tuple[Species, str]:
    drawn = rng.random()
    relatives = [kind for kind in kinds if kind.genus == first.genus and kind is not first]
    if drawn < 1 / 6:
        return first, "sameSpecies"
    if drawn < 1 / 2 and relatives:
        return relatives[int(rng.integers(len(relatives)))], "sameGenus"
    others = [kind for kind in kinds if kind.genus != first.genus]
    return others[int(rng.integers(len(others)))], "sameClass"


def _write_singles(root: Path, count: int, seed: int, kinds: Sequence[Species]) -> list[_Picture]:
    """Write CUB-200-2011's tables, and ten captions for each picture."""
    base = root / "CUB_200_2011"
    names = [f"{k.number + 1:03d}.{k.name.replace(' ', '_')}" for k in kinds]
    pictures, lines = [], []
    for number in range(count):
        kind = kinds[number % len(kinds)]
        name = f"{names[kind.number]}/{kind.name.replace(' ', '_')}_{number:05d}"
        picture = _Picture(f"{root.name}/CUB_200_2011/images/{name}.jpg", kind, (seed, 12, number))
        rng = np.random.default_rng((seed, 13, number))
        bird = picture.bird()
        _write(root / "birds" / "text" / f"{name}.txt", [describe(bird, rng) for _ in range(10)])
        pictures.append(picture)
        lines.append((f"{name}.jpg", kind.number + 1, number // len(kinds) % 4 != 3))
    _write(base / "images.txt", [f"{i} {path}" for i, (path, _, _) in enumerate(lines, 1)])
    _write(base / "image_class_labels.txt", [f"{i} {label}" for i, (_, label, _) in enumerate(lines, 1)])
    _write(base / "train_test_split.txt", [f"{i} {int(train)}" for i, (_, _, train) in enumerate(lines, 1)])
    _write(base / "classes.txt", [f"{i} {name}" for i, name in enumerate(names, 1)])
    _write_truth(root, pictures)
    return pictures


def _write_labelled(root: Path, count: int, seed: int, kinds: Sequence[Species], size: int) -> list[_Picture]:
    """Write NABirds' tables. The inner nodes of the class tree, all birds and the genera, have no
    pictures.
    """
    genera = sorted({kind.genus for kind in kinds})
    first = 1 + len(genera)  # class id of species 0; 0 is all birds, 1 .. are genera
    pictures, ids = [], []
    for number in range(count):
        kind = kinds[number % len(kinds)]
        ids.append(uuid.UUID(bytes=np.random.default_rng((seed, 14, number)).bytes(16), version=4))
        path = f"{first + kind.number:04d}/{ids[-1].hex}.jpg"
        pictures.append(_Picture(f"{root.name}/images/{path}", kind, (seed, 15, number)))
    names = ["Birds", *(f"Genus {genus}" for genus in genera), *(kind.name for kind in kinds)]
    parents = [f"{1 + genera.index(genus)} 0" for genus in genera]
    parents += [f"{first + kind.number} {1 + genera.index(kind.genus)}" for kind in kinds]
    tables = {
        "images.txt": [p.path.partition("/images/")[2] for p in pictures],
        "image_class_labels.txt": [str(first + p.species.number) for p in pictures],
        "train_test_split.txt": [str(int(n // len(kinds) % 4 != 3)) for n in range(count)],
        "sizes.txt": [f"{size} {size}"] * count,
        "photographers.txt": ["nobody"] * count,
    }
    for name, values in tables.items():
        _write(root / name, [f"{i} {value}" for i, value in zip(ids, values, strict=True)])
    _write(root / "classes.txt", [f"{i} {name}" for i, name in enumerate(names)])
    _write(root / "hierarchy.txt", parents)
    _write_truth(root, pictures)
    return pictures


def _write(path: Path, lines: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write_truth(root: Path, pictures: Sequence[_Picture]) -> None:
    birds = {picture.path.rpartition("/")[2]: asdict(picture.bird()) for picture in pictures}
    (root / TRUTH).write_text(json.dumps(birds), encoding="utf-8")
