"""A model on disk: a folder with ``bundle.json``, ``encoder.onnx``, ``decoder.onnx`` and ``README.md``.

``bundle.json`` is the model's card: all that is needed to use the weights, and the size and SHA-256 of every
file. A bundle is a stranger's: names cannot leave the folder, each file is read once and what was checked is
what is run, and no code of the bundle is ever executed.
"""

import dataclasses
import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from whatchanged.bpe import from_merges, to_json
from whatchanged.errors import BundleError
from whatchanged.files import whole
from whatchanged.vocabulary import SPECIALS, Vocabulary

FORMAT = 1
DEFAULT = "clevr-pcl"
MANIFEST = "bundle.json"
GRAPHS = ("encoder.onnx", "decoder.onnx")
SHIPPED = Path(__file__).parents[1] / "models"

_MOST_BYTES = 4_000_000
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class NoChange:
    """How to read the no-change probability and the sentences that say the same.

        p = sigmoid(scale · logit(p_model) + shift)

    fitted on validation data, as ``how`` tells; ``p >= threshold`` speaks for "nothing changed". p_model is
    the encoder's (``by`` "head"), or the share that the decoder gives to ``sentences`` (``by`` "sentences",
    see ``no_change.sentences_probability``). These are the ways to say that nothing changed, the world's own
    or those of the data set: the sentence decides, the probability stands beside it.
    """

    threshold: float
    scale: float
    shift: float
    how: str
    sentences: tuple[str, ...]
    by: Literal["head", "sentences"] = "head"

    def calibrated(self, probability: float) -> float:
        """The model's probability on the calibrated scale."""
        p = min(max(probability, 1e-7), 1 - 1e-7)
        logit = self.scale * math.log(p / (1 - p)) + self.shift
        return 1 / (1 + math.exp(-min(max(logit, -700.0), 700.0)))


@dataclass(frozen=True)
class InDistribution:
    """How to read the encoder's ``ood_distance``, a distance from the pictures that the model knows.

    Above ``threshold`` a picture is unlike them; ``how`` tells where both come from.
    """

    threshold: float
    how: str


@dataclass(frozen=True)
class Card:
    """What a model is and how it is fed; preprocessing is a property of the weights."""

    name: str
    version: str
    method: str
    preset: str
    world: str
    image_size: tuple[int, int]
    """Width, height in pixels."""
    mean: tuple[float, ...]
    std: tuple[float, ...]
    grid: tuple[int, int]
    """Rows, columns of the attention maps."""
    vocabulary: Vocabulary
    max_length: int
    no_change: NoChange
    provenance: Mapping[str, Any]
    in_distribution: InDistribution | None = None
    """None: the encoder does not tell how strange its pictures are."""


@dataclass(frozen=True)
class Entry:
    """What a file must be: its size in bytes and its SHA-256."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Bundle:
    """A folder whose card has been read; ``fingerprint`` is the SHA-256 of the card, so of every file too."""

    folder: Path
    card: Card
    files: Mapping[str, Entry]
    fingerprint: str

    @property
    def size(self) -> int:
        """Bytes of all files that the card lists."""
        return sum(entry.size for entry in self.files.values())

    def read(self, name: str) -> bytes:
        """The bytes of a listed file, checked. Raises BundleError where they are not what the card says."""
        path, wanted = self.folder / name, self.files[name]
        if not path.is_file():
            raise BundleError(f"{path}: the file is missing. Copy the whole model folder again.")
        size = path.stat().st_size
        if size != wanted.size:
            raise BundleError(
                f"{path}: it has {size:,} bytes; {MANIFEST} says {wanted.size:,}. Copy the model folder."
            )
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != wanted.sha256:
            raise BundleError(
                f"{path}: its content was changed: the SHA-256 differs from the one in {MANIFEST}. "
                "Copy the model folder again, and trust only a source you know."
            )
        return content

    def check(self) -> None:
        """Hold every listed file against the card. Raises BundleError."""
        for name in self.files:
            self.read(name)


def shipped() -> tuple[str, ...]:
    """Names of the models inside this package."""
    return tuple(sorted(path.parent.name for path in SHIPPED.glob(f"*/{MANIFEST}")))


def open_bundle(name_or_folder: str | Path | None = None) -> Bundle:
    """Read the card of a shipped model (by name) or of a folder; None: the default model.

    A shipped name wins over a folder of the same name; write ``./name`` for the folder. The files are checked
    when they are read. Raises BundleError where the folder, its card or a listed name is wrong.
    """
    wanted = DEFAULT if name_or_folder is None else name_or_folder
    folder = SHIPPED / wanted if str(wanted) in shipped() else Path(wanted)
    if not folder.is_dir():
        known = ", ".join(shipped()) or "none"
        raise BundleError(
            f"{wanted}: there is no such model: no folder of this path, and the shipped models are: {known}."
        )
    path = folder / MANIFEST
    if not path.is_file():
        raise BundleError(f"{folder}: this is no model folder: it has no {MANIFEST}.")
    if path.stat().st_size > _MOST_BYTES:
        raise BundleError(
            f"{path}: {path.stat().st_size:,} bytes are no model card (at most {_MOST_BYTES:,})."
        )
    content = path.read_bytes()
    try:
        fields = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{path}: this is not JSON ({error}). Copy the model folder again.") from error
    reader = _Reader(path)
    values = reader.mapping(fields, "the whole file")
    _check_format(path, values)
    return Bundle(folder, _card(reader, values), _files(reader, values), hashlib.sha256(content).hexdigest())


def write_bundle(folder: Path, card: Card) -> Bundle:
    """Write ``bundle.json`` for the files that lie in the folder now, atomically, and read it back."""
    names = sorted(path.name for path in folder.iterdir() if path.is_file() and path.name != MANIFEST)
    fields: dict[str, Any] = {"format": FORMAT}
    for field in dataclasses.fields(Card):
        fields[field.name] = getattr(card, field.name)
    fields["vocabulary"] = to_json(card.vocabulary)
    fields["special_ids"] = {name.strip("<>").lower(): i for i, name in enumerate(SPECIALS)}
    fields["no_change"] = {
        "by": card.no_change.by,
        "threshold": card.no_change.threshold,
        "calibration": {"scale": card.no_change.scale, "shift": card.no_change.shift},
        "how": card.no_change.how,
        "sentences": list(card.no_change.sentences),
    }
    fields["provenance"] = dict(card.provenance)
    del fields["in_distribution"]
    if card.in_distribution is not None:
        fields["familiar"] = dataclasses.asdict(card.in_distribution)
    fields["files"] = {name: dataclasses.asdict(_entry(folder / name)) for name in names}
    with whole(folder / MANIFEST) as draft:
        draft.write_text(json.dumps(fields, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return open_bundle(folder.absolute())


def _entry(path: Path) -> Entry:
    with path.open("rb") as stream:
        return Entry(path.stat().st_size, hashlib.file_digest(stream, "sha256").hexdigest())


def _check_format(path: Path, values: Mapping[str, Any]) -> None:
    if values.get("format") != FORMAT:
        raise BundleError(
            f"{path}: the bundle's format is {values.get('format')!r}, this version reads {FORMAT}. "
            "Update whatchanged, or export the model again."
        )


def _card(reader: "_Reader", values: Mapping[str, Any]) -> Card:
    texts = {key: reader.text(values, key) for key in ("name", "version", "method", "preset", "world")}
    no_change = reader.mapping(values.get("no_change"), "no_change")
    calibration = reader.mapping(no_change.get("calibration"), "no_change.calibration")
    std = reader.numbers(values, "std", 3)
    if min(std) <= 0:
        raise reader.wrong("std", "three numbers above 0", std)
    width, height = reader.sizes(values, "image_size")
    rows, columns = reader.sizes(values, "grid")
    return Card(
        **texts,
        image_size=(width, height),
        mean=reader.numbers(values, "mean", 3),
        std=std,
        grid=(rows, columns),
        vocabulary=_vocabulary(reader, values),
        max_length=reader.count(values.get("max_length"), "max_length", 1000),
        no_change=NoChange(
            threshold=reader.number(no_change.get("threshold"), "no_change.threshold"),
            scale=reader.number(calibration.get("scale"), "no_change.calibration.scale"),
            shift=reader.number(calibration.get("shift"), "no_change.calibration.shift"),
            how=reader.text(no_change, "how"),
            sentences=reader.texts(no_change, "sentences"),
            by=_judge(reader, no_change.get("by", "head")),
        ),
        provenance=reader.mapping(values.get("provenance"), "provenance"),
        in_distribution=_in_distribution(reader, values),
    )


def _in_distribution(reader: "_Reader", values: Mapping[str, Any]) -> InDistribution | None:
    """What strangeness is too much; cards without it are read as before."""
    if "familiar" not in values:
        return None
    fields = reader.mapping(values["familiar"], "familiar")
    threshold = reader.number(fields.get("threshold"), "familiar.threshold")
    if threshold <= 0:
        raise reader.wrong("familiar.threshold", "a number above 0", threshold)
    return InDistribution(threshold, reader.text(fields, "how"))


def _judge(reader: "_Reader", value: Any) -> Literal["head", "sentences"]:
    """Who judges; cards from before there was a choice do not say: a head."""
    if value not in ("head", "sentences"):
        raise reader.wrong("no_change.by", '"head" or "sentences"', value)
    return "head" if value == "head" else "sentences"


def _vocabulary(reader: "_Reader", values: Mapping[str, Any]) -> Vocabulary:
    found = values.get("vocabulary")
    merges = found if isinstance(found, dict) else None  # CLIP's pieces
    entries = reader.texts(values, "vocabulary") if merges is None else reader.texts(merges, "merges")
    wanted = {name.strip("<>").lower(): i for i, name in enumerate(SPECIALS)}
    if values.get("special_ids") != wanted:
        raise reader.wrong("special_ids", str(wanted), values.get("special_ids"))
    try:
        return Vocabulary(entries) if merges is None else from_merges(entries)
    except ValueError as error:
        raise BundleError(f"{reader.path}: vocabulary: {error}. Export the model again.") from error


def _files(reader: "_Reader", values: Mapping[str, Any]) -> dict[str, Entry]:
    files = {}
    for name, entry in reader.mapping(values.get("files"), "files").items():
        if not _FILE_NAME.fullmatch(name):
            raise BundleError(
                f"{reader.path}: it lists the file {name!r}, which is not a plain name inside the folder. "
                "Do not use this bundle."
            )
        entry = reader.mapping(entry, f"files.{name}")
        size = reader.count(entry.get("size"), f"files.{name}.size", 1 << 40)
        sha256 = reader.text(entry, "sha256")
        files[name] = Entry(size, sha256)
    for name in GRAPHS:
        if name not in files:
            raise BundleError(f"{reader.path}: it lists no {name}. Export the model again.")
    return files


@dataclass(frozen=True)
class _Reader:
    """Typed access to the card, every complaint naming file, key, what was wanted and what was found."""

    path: Path

    def wrong(self, key: str, wanted: str, got: Any) -> BundleError:
        shown = repr(got)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        return BundleError(f"{self.path}: {key} should be {wanted}, it is {shown}. Export the model again.")

    def mapping(self, value: Any, key: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.wrong(key, "an object", value)
        return value

    def text(self, values: Mapping[str, Any], key: str) -> str:
        if not isinstance(values.get(key), str):
            raise self.wrong(key, "a text", values.get(key))
        return str(values[key])

    def texts(self, values: Mapping[str, Any], key: str) -> tuple[str, ...]:
        found = values.get(key)
        if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
            raise self.wrong(key, "a list of texts", found)
        return tuple(found)

    def number(self, value: Any, key: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise self.wrong(key, "a number", value)
        return float(value)

    def numbers(self, values: Mapping[str, Any], key: str, length: int) -> tuple[float, ...]:
        found = values.get(key)
        if not isinstance(found, Sequence) or len(found) != length:
            raise self.wrong(key, f"{length} numbers", found)
        return tuple(self.number(item, key) for item in found)

    def count(self, value: Any, key: str, most: int) -> int:
        if type(value) is not int or not 1 <= value <= most:
            raise self.wrong(key, f"a whole number from 1 to {most}", value)
        return value

    def sizes(self, values: Mapping[str, Any], key: str) -> tuple[int, int]:
        found = values.get(key)
        if not isinstance(found, list) or len(found) != 2:
            raise self.wrong(key, "two whole numbers", found)
        return self.count(found[0], key, 10_000), self.count(found[1], key, 10_000)
