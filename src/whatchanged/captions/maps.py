"""Check and write the files of ``caption --attention``, which contain attention maps."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whatchanged.errors import OutputError, PredictionsError
from whatchanged.files import write_output
from whatchanged.links import check_inside, check_link
from whatchanged.outputs import hold

if TYPE_CHECKING:
    from whatchanged.captioner.card import Card

CHUNK = 1000
"""The number of pairs in one file of attention maps."""

_NAME = re.compile(r"attention-(\d{7,})\.safetensors")


@dataclass(frozen=True)
class Maps:
    """The attention maps of one run."""

    folder: Path
    first: int
    """The index of the run's first pair in the whole list."""
    pairs: int
    """The number of the run's pairs."""
    about: dict[str, Any]
    """The metadata of the files: model, list, grid and layer."""

    def check_free(self, replace: bool) -> None:
        """Raise OutputError if maps of the run's pairs exist and may not be replaced.

        Also raise OutputError if another command is writing maps into the folder, or if a link leads out of
        the folder.
        """
        from whatchanged.captioner.attention import file_name

        check_link(self.folder)
        if self.folder.is_dir():
            check_inside(self.folder)
        hold(self.folder / file_name(self.first))
        existing = self.existing()
        if existing and not replace:
            raise OutputError(
                f"{existing[0]}: there are attention maps already. Pass --resume to continue or --force to "
                "replace them, or choose another folder."
            )

    def existing(self) -> list[Path]:
        """Return the map files in the folder that begin with a pair of this run."""
        span = range(self.first, self.first + self.pairs)
        names = {path: _NAME.fullmatch(path.name) for path in sorted(self.folder.glob("attention-*"))}
        return [path for path, name in names.items() if name and int(name[1]) in span]

    def check_written(self, done: int, output: Path) -> None:
        """Check that the maps of the captioned pairs exist, and belong to this model and list.

        output: the file of predictions, for the error message. Raises OutputError.
        """
        from whatchanged.captioner.attention import about_file, file_name

        for start in range(0, done, CHUNK):
            path = self.folder / file_name(self.first + start)
            try:
                about = about_file(path)
            except PredictionsError as error:
                raise OutputError(
                    f"{output}: the maps of its pairs are not in {self.folder}: {error} Name their "
                    "folder, or pass --force to start anew."
                ) from error
            if any(about[key] != value for key, value in self.about.items()):
                raise OutputError(
                    f"{path}: these maps were made with another model or list. Name the right folder, or "
                    "pass --force to start anew."
                )

    def ends_file(self, done: int) -> bool:
        """Return whether a file of maps is complete once ``done`` pairs of the run are captioned."""
        return done % CHUNK == 0 or done == self.pairs

    def write(self, done: int, sentences: dict[str, Any]) -> None:
        """Write the maps of the latest pairs.

        done: the number of pairs of the run that are captioned. sentences: a mapping from pair id to the
        words of the sentence with their maps.
        """
        from whatchanged.captioner.attention import file_name, pack

        path = self.folder / file_name(self.first + (done - 1) // CHUNK * CHUNK)
        write_output(path, pack(sentences, self.about))


def about_maps(card: "Card", identity: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata of a model's map files. identity: the settings of the run."""
    unnamed = f"as {card.name} {card.version} ({card.method}) gives it"
    return {
        "model": identity["model"],
        "list": identity["list"]["sha256"],
        "grid": list(card.attention.shape),
        "layer": str(card.provenance.get("attention", unnamed)),
    }


def check_folder(folder: Path) -> None:
    """Raise OutputError if no maps can be written into the folder."""
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder}: --attention wants a folder, this is a file. Choose another name.")
    if not folder.absolute().parent.is_dir():
        raise OutputError(f"{folder}: the folder {folder.absolute().parent} is not there. Make it first.")
