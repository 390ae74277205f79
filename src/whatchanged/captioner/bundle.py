"""A model on disk: a folder with ``bundle.json``, its graphs, the weights and a README.

    bundle.json           the model's card, and the size and SHA-256 of every other file
    encoder.onnx          the encoder: two pictures to a memory; runs once for each pair
    decoder.onnx          the decoder: the memory to a sentence; runs once for each word
    weights.safetensors   the weights, from which training can start; the captioner does not read them
    README.md             the card as text

A bundle may come from a stranger. File names cannot lead out of the folder, each file is read once and
checked before use, and no code of the bundle is ever run.
"""

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whatchanged.captioner.card import Card, PictureInput
from whatchanged.captioner.card_json import CardReader, card_from_json, card_to_json
from whatchanged.errors import REGIONS_ARE_GONE, BundleError
from whatchanged.files import whole
from whatchanged.json_values import read_json
from whatchanged.opening import open_regular, read_regular

DEFAULT = "clevr-pcl"
"""The default model."""
MANIFEST = "bundle.json"
GRAPHS = ("encoder.onnx", "decoder.onnx")
GONE = ("screens",)
"""Models that were shipped up to 0.2."""
WEIGHTS = "weights.safetensors"
RECIPE = "recipe.toml"
"""A file that identifies the folder of a run, which users may mistake for a model's."""
SHIPPED = Path(__file__).parents[1] / "models"

_MOST_BYTES = 4_000_000
"""The largest ``bundle.json`` that is read. With CLIP's vocabulary it has less than a million bytes."""
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class ListedFile:
    """The recorded size in bytes and SHA-256 of a file."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Bundle:
    """A model folder whose card has been read.

    ``fingerprint`` is the SHA-256 of ``bundle.json``, which names the SHA-256 of every other file.
    """

    folder: Path
    card: Card
    files: Mapping[str, ListedFile]
    fingerprint: str

    @property
    def size(self) -> int:
        """The sum of the sizes of all files that the card lists, in bytes."""
        return sum(entry.size for entry in self.files.values())

    @property
    def has_weights(self) -> bool:
        """Whether the bundle has weights from which training can start. Bundles of format 1 have none."""
        return WEIGHTS in self.files

    def read(self, name: str) -> bytes:
        """Return the bytes of a listed file. Raises BundleError where size or SHA-256 differ from the
        card's.
        """
        path = self.folder / name
        wanted = self.files[name]
        if not path.is_file():
            raise BundleError(f"{path}: the file is missing. Copy the whole model folder again.")
        size = path.stat().st_size
        if size != wanted.size:
            raise BundleError(
                f"{path}: it has {size:,} bytes; {MANIFEST} says {wanted.size:,}. Copy the model folder."
            )
        content = read_regular(path)
        if hashlib.sha256(content).hexdigest() != wanted.sha256:
            raise BundleError(
                f"{path}: its content was changed: the SHA-256 differs from the one in {MANIFEST}. "
                "Copy the model folder again, and trust only a source you know."
            )
        return content

    def check(self) -> None:
        """Compare every listed file with the card. Raises BundleError."""
        for name in self.files:
            self.read(name)


def shipped() -> tuple[str, ...]:
    """Return the names of the models inside this package."""
    return tuple(sorted(path.parent.name for path in SHIPPED.glob(f"*/{MANIFEST}")))


def names_model(given: str | Path) -> bool:
    """Return whether this is the name of a shipped model. Raises BundleError for a model that only an earlier
    version shipped.

    A folder of that name is accepted.
    """
    return str(given) in shipped() or (str(given) in GONE and not Path(given).is_dir())


def open_bundle(name_or_folder: str | Path | None = None) -> Bundle:
    """Open a shipped model (by name) or a folder, and read its card; None: the default model.

    A shipped name wins over a folder of the same name; write ``./name`` for the folder. The other files are
    checked when they are read. Raises BundleError where the folder, its card or a listed name is wrong.
    """
    folder = _find(DEFAULT if name_or_folder is None else name_or_folder)
    path = folder / MANIFEST
    if not path.is_file():
        if (folder / RECIPE).is_file():
            raise BundleError(
                f"{folder}: this is a run of `whatchanged train`, no model. Caption with it by --run {folder}"
                " instead of --model, or make a model of it: whatchanged export."
            )
        raise BundleError(f"{folder}: this is no model folder: it has no {MANIFEST}.")
    size = path.stat().st_size
    if size > _MOST_BYTES:
        raise BundleError(f"{path}: {size:,} bytes are no model card (at most {_MOST_BYTES:,}).")
    content = read_regular(path)
    try:
        fields = read_json(content.decode("utf-8"))
    except ValueError as error:
        raise BundleError(f"{path}: this is not JSON ({error}). Copy the model folder again.") from error
    card = card_from_json(fields, path)
    return Bundle(folder, card, _listed_files(fields, path), hashlib.sha256(content).hexdigest())


def write_bundle(folder: Path, card: Card) -> Bundle:
    """Write ``bundle.json`` for the files now in the folder, completely or not at all; read it back."""
    names = sorted(path.name for path in folder.iterdir() if path.is_file() and path.name != MANIFEST)
    files = {name: dataclasses.asdict(_entry(folder / name)) for name in names}
    fields = {**card_to_json(card), "files": files}
    with whole(folder / MANIFEST) as draft:
        draft.write_text(json.dumps(fields, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return open_bundle(folder.absolute())


def picture_input(bundle: Bundle) -> PictureInput:
    """Return the declared picture input of the model. Raises BundleError for a model of stored features."""
    if isinstance(bundle.card.input, PictureInput):
        return bundle.card.input
    raise BundleError(
        f"{bundle.folder}: {bundle.card.name} reads features that were computed from pictures beforehand, not"
        " pictures. Caption a data set whose features are stored: whatchanged caption DATA --model"
        f" {bundle.folder} --features FOLDER"
    )


def _find(name_or_folder: str | Path) -> Path:
    """Return the folder of a shipped model, or the named folder."""
    if names_model(name_or_folder) and str(name_or_folder) in GONE:
        raise BundleError(f"{name_or_folder}: {REGIONS_ARE_GONE}")
    folder = SHIPPED / name_or_folder if names_model(name_or_folder) else Path(name_or_folder)
    if not folder.is_dir():
        known = ", ".join(shipped()) or "none"
        raise BundleError(
            f"{name_or_folder}: there is no such model: no folder of this path, and the shipped models are: "
            f"{known}."
        )
    return folder


def _entry(path: Path) -> ListedFile:
    with open_regular(path) as stream:
        return ListedFile(path.stat().st_size, hashlib.file_digest(stream, "sha256").hexdigest())


def _listed_files(fields: Mapping[str, Any], path: Path) -> dict[str, ListedFile]:
    """Return the files that the card lists. Raises BundleError where a name is not plain or a graph is
    missing.
    """
    listed, entries = CardReader(path).object(fields, "files")
    files = {}
    for name in entries:
        if not _FILE_NAME.fullmatch(name):
            raise BundleError(
                f"{path}: it lists the file {name!r}, which is not a plain name inside the folder. "
                "Do not use this bundle."
            )
        inside, entry = listed.object(entries, name)
        files[name] = ListedFile(inside.count(entry, "size", 1 << 40), inside.text(entry, "sha256"))
    for name in GRAPHS:
        if name not in files:
            raise BundleError(f"{path}: it lists no {name}. Export the model again.")
    return files
