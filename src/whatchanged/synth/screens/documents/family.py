"""The family of typeset documents: Typst sets them, and Typst or PDFium draws them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version

from whatchanged.errors import MissingExtra
from whatchanged.records import Split
from whatchanged.synth.screens import Family, FamilyOptions
from whatchanged.synth.screens.choices import pick
from whatchanged.synth.screens.documents.changes import any_change
from whatchanged.synth.screens.documents.document import TypesetDocument
from whatchanged.synth.screens.documents.sampling import random_document
from whatchanged.synth.screens.documents.with_typst import USUAL, Press, Printing
from whatchanged.synth.screens.edits import DrawnPicture, Edit
from whatchanged.synth.screens.redrawn import Redrawn
from whatchanged.synth.screens.words import Rng
from whatchanged.worlds.screens.truth import Value


class TypstMaker:
    """Documents set by Typst."""

    family = "documents"
    usual = USUAL

    def __init__(self) -> None:
        self.press = Press()

    def document(self, rng: Rng, split: Split) -> TypesetDocument:
        """A random document; half of them stand on a page whose height does not follow the text."""
        document = random_document(rng, split)
        if rng.random() < 0.5:
            return document
        height = self.press.draw(document, USUAL).pixels.shape[0] / document.scale
        return replace(document, height=round(height + float(rng.uniform(0, 80))))

    def changed(self, rng: Rng, document: TypesetDocument) -> tuple[TypesetDocument, Edit] | None:
        """The document with one random change."""
        return any_change(rng, document)

    def noisy(self, rng: Rng, document: TypesetDocument) -> tuple[Printing, str]:
        """One block's letters a hundredth of a point farther apart, all a part of a pixel beside its place,
        or drawn by another program."""
        if rng.random() < 0.5:
            block = pick(rng, document.blocks)
            return Printing(
                tracked=block.number
            ), f"letters of block {block.number} 0.01 points farther apart"
        if rng.random() < 0.4:
            shift = float(rng.uniform(0.08, 0.45)) / document.scale
            return Printing(shift=shift), f"all beside its place by {shift * document.scale:.2f} pixels"
        if document.program == "pdfium" and rng.random() < 0.5:
            return Printing("pdfium", colored=True), "letters smoothed in colours"
        other = "pdfium" if document.program == "typst" else "typst"
        return Printing(other), f"drawn by {other}"

    def draw(self, document: TypesetDocument, how: Printing) -> DrawnPicture:
        """Return the document's picture."""
        return self.press.draw(document, how)

    def design(self, document: TypesetDocument) -> Mapping[str, Value]:
        """Style, font, language, scale."""
        return {
            "style": document.style,
            "font": document.font,
            "language": document.language,
            "scale": document.scale,
            "program": document.program,
        }


@contextmanager
def open_documents(options: FamilyOptions) -> Iterator[Family]:
    """Typeset documents. Raises MissingExtra where Typst or PDFium is not installed."""
    try:
        import pypdfium2
        import typst  # noqa: F401
    except ImportError as error:
        raise MissingExtra("Drawing documents", "typst and pypdfium2", "screens") from error
    versions = f"typst {version('typst')}, pypdfium2 {pypdfium2.version.PYPDFIUM_INFO}"
    yield Redrawn(TypstMaker(), versions, 3, options.several)
