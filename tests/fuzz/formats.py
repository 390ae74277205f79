"""What strangers' files are read by: for each format a corpus of small files, and a check that reads one.

The corpus lies in ``fuzz_corpus/FORMAT``. A format of single files holds them side by side; where files are
read together, as those of a data set, FORMAT holds one folder a set. A check is given the folder and the file
in it that a fuzzer changed. A check ends, or raises ``WhatchangedError``; anything else is a fault.
"""

import contextlib
import json
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from PIL import Image

from whatchanged.errors import WhatchangedError

CORPUS = Path(__file__).parent / "corpus"
TOY = Path(__file__).parents[1] / "plugins" / "toy_method" / "src"
Check = Callable[[Path, Path], None]
MEASURED = 10_000
"""Pixels of a picture that is measured, too; of larger ones only the reading is tried."""
ONE_IN = 4
"""What takes ten times as long as the rest of a check is done for one in so many inputs."""


def check_pictures(folder: Path, file: Path) -> None:
    """Read in every way, and compared with itself and with a grey picture."""
    from whatchanged.images import open_image, picture_size
    from whatchanged.measured.compared import Compared
    from whatchanged.measured.measure import measure_read
    from whatchanged.measured.pixels.reading import in_common_colors, read_picture

    with contextlib.suppress(WhatchangedError):
        assert picture_size(file) == open_image(file).size, "two readers tell two sizes"
    picture = read_picture(file)
    in_common_colors(picture)
    if picture.size[0] * picture.size[1] <= MEASURED and zlib.crc32(file.read_bytes()) % ONE_IN == 0:
        grey = np.full((*picture.size[::-1], 3), 128, np.uint8)
        measure_read((picture, read_picture(grey)), (file, grey), Compared(picture.on_white, grey))


def check_pdf(folder: Path, file: Path) -> None:
    """Its first pages, drawn in this very process, so that what ends the one that draws is seen."""
    from whatchanged.pdf import draw_pages

    with tempfile.TemporaryDirectory() as place:
        draw_pages(file, Path(place) / "pages", most=2, dpi=18)


def check_lists(folder: Path, file: Path) -> None:
    """As ``caption`` and as ``dataset --skip-missing`` read it."""
    _open_data(file, "plain", file)


def check_datasets(folder: Path, file: Path) -> None:
    """The whole folder, its pictures not looked for."""
    _open_data(folder, folder.name.replace("levir_tokens", "levir_cc"), file)


def _open_data(path: Path, name: str, file: Path) -> None:
    from whatchanged.datasets import open_dataset

    if zlib.crc32(file.read_bytes()) % ONE_IN == 0:  # it looks into every file that any data set has
        with contextlib.suppress(WhatchangedError):
            open_dataset(path, pictures=False)
    with contextlib.suppress(WhatchangedError):
        for record in open_dataset(path, name, skip_missing=True).records:
            json.dumps([record.pair_id, record.captions]).encode()
    open_dataset(path, name, pictures=False)


def check_predictions(folder: Path, file: Path) -> None:
    """The file, the note beside it, and the folder as a pair of results."""
    from whatchanged.evaluation.io.predictions import made_by, read_predictions

    made_by(folder / "ours.jsonl", ())
    with contextlib.suppress(WhatchangedError):
        read_predictions(folder)
    if not file.name.endswith(".meta.json"):
        made_by(file, read_predictions(file))


def check_references(folder: Path, file: Path) -> None:
    """Sentences to score against."""
    from whatchanged.evaluation.io.references import open_references

    open_references(file)


def check_retrieval(folder: Path, file: Path) -> None:
    """Read and scored."""
    from whatchanged.evaluation.io.similarity import read_similarity
    from whatchanged.evaluation.report.retrieval_report import retrieval

    retrieval(read_similarity(folder / "s.npy"), True)


def check_attention(folder: Path, file: Path) -> None:
    """All maps of the folder."""
    from whatchanged.captioner.attention import AttentionFiles

    files = AttentionFiles(folder)
    for pair_id in ("1.png", "2.png", "3.png"):
        if pair_id in files:
            files.heat(pair_id)


def check_compare(folder: Path, file: Path) -> None:
    """Ignored boxes, noise, and the answers of a run before; whether these are such files."""
    from whatchanged.compare.ignore import boxes_of, read_ignored
    from whatchanged.compare.noise import read_noise
    from whatchanged.compare.settings import CompareSettings
    from whatchanged.compare.stored import StoredAnswers, answer_to_json, is_stored
    from whatchanged.evaluation.io.predictions import read_predictions

    if file.name == "boxes.json":
        boxes_of(read_ignored(file), "home/a.png")
    elif file.name == "noise.json":
        read_noise(file).applied(CompareSettings())
    elif file.name == "results.jsonl":
        read_predictions(file)
    else:
        is_stored(file)
        head = _head(file)
        with StoredAnswers(file, head) as stored:
            for key in list(stored._known):
                answer = stored.find(key)
                if answer is not None:
                    json.dumps(answer_to_json(answer))
                    assert isinstance(answer.sentence, str), "an answer without a sentence"


def _head(file: Path) -> dict[str, Any]:
    """The settings in the first line of stored answers, so that the lines after it are read."""
    try:
        with file.open(encoding="utf-8") as stream:
            found = json.loads(stream.readline())
        return {key: value for key, value in found.items() if key != "format"}
    except (OSError, ValueError, RecursionError, AttributeError):
        return {}


def check_recipes(folder: Path, file: Path) -> None:
    """Read as a person's recipe, with its values on the command line, and as the recipe of a run."""
    with _toy_method():
        _check_recipe(file)


@contextlib.contextmanager
def _toy_method() -> Iterator[None]:
    """A method of another package, as if that were installed."""
    from whatchanged import plugins

    toy = plugins.Plugin(plugins.METHODS, "toy-mean", "toy_method.settings:ToyConfig", "toy-method 0.1")
    with (
        mock.patch.object(plugins, "_entries", lambda group: [toy] if group == toy.group else []),
        mock.patch.object(sys, "path", [*sys.path, str(TOY)]),
    ):
        yield


def _check_recipe(file: Path) -> None:
    from whatchanged.recipes.reader import load_recipe, parse_recipe, parse_saved_recipe
    from whatchanged.recipes.values import dump_recipe

    with contextlib.suppress(WhatchangedError, OSError, UnicodeDecodeError):
        text = file.read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if re.match(r"\w+ *=", line)]
        with contextlib.suppress(WhatchangedError):
            parse_saved_recipe(text, "it")
        with contextlib.suppress(WhatchangedError):
            load_recipe("pcl-tiny", [f"stage.caption.{line}" for line in lines[:3]])
        load_recipe("pcl-tiny", lines[:3])
    recipe = load_recipe(file)
    assert parse_recipe(dump_recipe(recipe), "it") == recipe, "what is written is not what was read"


def check_bundles(folder: Path, file: Path) -> None:
    """Opened and asked about two pictures; a changed graph gets a card whose hashes are right."""
    from whatchanged.captioner.bundle import MANIFEST, open_bundle, write_bundle
    from whatchanged.captioner.runtime import load

    if file.name.endswith(".onnx"):
        (folder / MANIFEST).write_bytes((CORPUS / "bundles" / folder.name / MANIFEST).read_bytes())
        write_bundle(folder, open_bundle(folder).card)
    model = load(folder)
    small, other = (Image.new("RGB", (24, 16), color) for color in ("white", "black"))
    model.describe(small, other)


def check_runs(folder: Path, file: Path) -> None:
    """Opened, and all that is read to go on with it or to begin from it."""
    import torch

    from whatchanged.training.checkpoint import read_checkpoint, read_state
    from whatchanged.training.run_folder import check_vocabulary, first_init, keep, open_run, read_recipe

    first_init(folder, None)
    checkpoint = folder / "checkpoints" / "last.safetensors"
    with contextlib.suppress(WhatchangedError):
        read_state(checkpoint)
    if file.name == "environment.json":
        keep(read_recipe(folder), folder, torch.device("cpu"), None, resumed=True)
        return
    _, method, _ = open_run(folder)
    saved = read_checkpoint(checkpoint)
    saved.restore_optimizer(method, torch.optim.Adam(method.parameters()))
    saved.restore_random()
    check_vocabulary(method.vocabulary, folder)


def check_stored(folder: Path, file: Path) -> None:
    """Pools, stored tokens and features: every row."""
    from whatchanged.training.data.grid_files import GridFiles
    from whatchanged.training.data.npy_files import read_features
    from whatchanged.training.objects.pool import open_shards, pairing, read_description
    from whatchanged.training.objects.token_files import open_tokens

    if file.parent.name == "grids":
        grids = GridFiles(file.parent)
        for name in ("a/x.png", "y.png"):
            grids.read(name)
    elif file.parent.name == "arrays":
        read_features([file], 2, 3, 4)
    else:
        pool = folder / "pool"
        read_description(pool)
        shards = open_shards(pool)
        for shard in shards:
            for i in range(len(shard)):
                shard.triples.read(i)
                pairing(shard, i, 0, 1, shard.change(i))
                shard.scene(i, 2)
        for rows in open_tokens(folder / "tokens", pool, shards):
            for i in range(len(rows)):
                rows.read(i)


def check_truth(folder: Path, file: Path) -> None:
    """The truth beside a drawn set: read, and each of the set's own sentences held against it."""
    from whatchanged.datasets import open_dataset
    from whatchanged.evaluation.metrics.truth import judged, read_truths

    records = open_dataset(folder, folder.name, pictures=False).records
    truths = read_truths(folder, records)
    if truths is None:
        return
    for place in range(max(len(record.captions) for record in records)):
        told = [record for record in records if place < len(record.captions)]
        judged(told, [record.captions[place] for record in told], truths)


def check_packed(folder: Path, file: Path) -> None:
    """A run folder made of packed weights."""
    from whatchanged.training.weights.weight_shards import unpack

    with tempfile.TemporaryDirectory(dir=folder.parent.parent) as place:
        unpack(folder, Path(place))


def check_places(folder: Path, file: Path) -> None:
    """Names of files as URLs; a store in memory whose files are called so; lists and features in it."""
    from whatchanged.datasets import open_dataset
    from whatchanged.scale.urls import path_of
    from whatchanged.training.data.grid_files import GridFiles

    store: Any = path_of("memory://store")
    try:
        for path in folder.iterdir():
            if path.is_file():
                (store / path.name).write_bytes(path.read_bytes())
        if file.name == "names.txt":
            names = file.read_text(encoding="utf-8", errors="surrogateescape").splitlines()[:20]
            _check_names(store, names)
        elif file.name.endswith(".safetensors"):
            for name in GridFiles(store)._rows:
                json.dumps(name)
        else:
            records = open_dataset(store / file.name).records
            json.dumps([str(record.before) for record in records])
    finally:
        store.fs.store.clear()
        store.fs.pseudo_dirs[:] = [""]


def _check_names(store: Any, names: Sequence[str]) -> None:
    """Each as what a person types in place of a file, and as the name of a file in a listing."""
    from whatchanged.datasets import open_dataset
    from whatchanged.datasets.picture_files import listed, pictures_below
    from whatchanged.scale.urls import path_of
    from whatchanged.urls import as_url, is_remote, is_url

    for name in names:
        as_url(name)
        with contextlib.suppress(WhatchangedError):
            path = path_of(name)
            assert is_url(name) or not is_remote(path), "a plain name became a URL"
            if str(path).startswith("memory://"):
                open_dataset(path, pictures=False)
        with contextlib.suppress(ValueError, OSError):  # the store itself refuses the name
            store.fs.pipe_file(f"/store/below/{name}", b"")
    pictures = pictures_below(store).pictures
    listed(pictures.values())
    assert all(not name.startswith("/") for name in pictures), "a name that leads out of its folder"


def check_weights(folder: Path, file: Path) -> None:
    """Weights in any of CLIP's forms, and its merges."""
    from whatchanged.bpe import read_merges
    from whatchanged.training.weights.clip_archive import read_tensors

    if file.name.startswith("merges"):
        read_merges(file)
    else:
        read_tensors(file)


FORMATS: Mapping[str, Check] = {
    "pictures": check_pictures,
    "pdf": check_pdf,
    "lists": check_lists,
    "datasets": check_datasets,
    "predictions": check_predictions,
    "references": check_references,
    "attention": check_attention,
    "retrieval": check_retrieval,
    "compare": check_compare,
    "recipes": check_recipes,
    "bundles": check_bundles,
    "runs": check_runs,
    "stored": check_stored,
    "weights": check_weights,
    "truth": check_truth,
    "packed": check_packed,
    "places": check_places,
}
"""Format -> its check."""
SETS = ("datasets", "bundles", "runs", "truth", "packed")
"""Formats whose corpus holds one folder a set of files."""
PLAIN = ("pictures", "pdf", "lists", "predictions", "references", "retrieval", "compare", "recipes")
"""Formats whose whole corpus is read in a second or two, without ONNX Runtime and without torch."""


def warm(name: str) -> None:
    """Read every file of a format's corpus, so that all that reads it is imported."""
    with tempfile.TemporaryDirectory() as place:
        stage = Stage(name, Path(place))
        for seed in stage.seeds():
            stage.play(seed)


class Stage:
    """A format's corpus on a stage: a copy in which one file at a time is another."""

    def __init__(self, name: str, place: Path) -> None:
        """place: an empty folder for the copy."""
        self.check = FORMATS[name]
        source = CORPUS / name
        shutil.copytree(source, place / name)
        files = sorted(path for path in (place / name).rglob("*") if path.is_file())
        self.files = [path for path in files if path.stat().st_size]
        self._before = {path: path.read_bytes() for path in self.files}
        self._folder = place / name
        self._sets = name in SETS

    def seeds(self) -> list[bytes]:
        """Every file of the corpus, as an input."""
        return [number.to_bytes(2, "big") + self._before[path] for number, path in enumerate(self.files)]

    def file_of(self, data: bytes) -> Path:
        """The file that an input changes: its first two bytes say which."""
        return self.files[int.from_bytes(data[:2], "big") % len(self.files)]

    def play(self, data: bytes) -> bool:
        """Read the input; whether it was accepted. Raises what the check raises but for WhatchangedError."""
        file = self.file_of(data)
        folder = self._folder / file.relative_to(self._folder).parts[0] if self._sets else self._folder
        file.write_bytes(data[2:])
        try:
            self.check(folder, file)
        except WhatchangedError as error:
            assert "\n" not in str(error).strip() or len(str(error)) < 5000, "a message of many lines"
            return False
        finally:
            self._restore(folder)
        return True

    def _restore(self, folder: Path) -> None:
        """Put back what the input or the check changed."""
        for path in folder.rglob("*"):
            if path.is_file() and path not in self._before and path.stat().st_size:
                path.unlink()
        for path, content in self._before.items():
            if path.is_relative_to(folder) and (not path.is_file() or path.read_bytes() != content):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
