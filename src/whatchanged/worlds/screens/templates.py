"""The sentences of the world as templates. Each template states one change in one wording.

A sentence is written by filling the slots of a template, and parsed by matching the same slots. Every written
sentence can therefore be parsed. ``slots.py`` fills and parses these slots:

{the}         the element: noun, optional count, quoted name and position: 'the button "Save" at the top'
{a} a new element, with the same parts: "an icon at the upper left"
{way}         direction and amount: "down by 24 pixels"
{direction}   direction alone: "down"
{growth}      amount: "12 pixels wider"
{grown}       the same without an amount: "wider"
{before} {after}              names of colours
{shade}       "darker" or "lighter"
{text_before} {text_after}    words in quotes
{more}        one of the two words in ``pair``, chosen by the amounts
{on}          one of the two wordings in ``pair``: the state became true, or is no longer true
"""

from collections.abc import Sequence
from dataclasses import dataclass

from whatchanged.worlds.screens.kinds import Kind


@dataclass(frozen=True)
class Template:
    """One wording.

    kind: the kind of change that the wording states.
    aspects: the aspects that it states; () if it can state any aspect of the kind.
    state: the state that it states.
    pair: the two wordings for {more} or {on}.
    """

    kind: Kind
    text: str
    aspects: tuple[str, ...] = ()
    state: str = ""
    pair: tuple[str, str] = ("", "")

    @property
    def slots(self) -> tuple[str, ...]:
        """Return the names of the slots in order."""
        return tuple(part.partition("}")[0] for part in self.text.split("{")[1:])


def _all(kind: Kind, aspects: Sequence[str], *texts: str) -> list[Template]:
    return [Template(kind, text, tuple(aspects)) for text in texts]


def _either(
    kind: Kind, aspects: Sequence[str], pair: tuple[str, str], *texts: str, state: str = ""
) -> list[Template]:
    return [Template(kind, text, tuple(aspects), state, pair) for text in texts]


_ADDED = [
    *_all("added", (), "{a} was added", "there is now {a}", "{a} appeared", "{a} is new"),
    Template("added", "{a} opened", (), "open"),
    Template("added", "{a} popped up", (), "open"),
]
_REMOVED = [
    *_all(
        "removed", (), "{the} was removed", "{the} is gone", "{the} disappeared", "{the} is no longer there"
    ),
    Template("removed", "{the} closed", (), "open"),
]
_MOVED = [
    *_all("moved", (), "{the} moved {way}", "{the} was shifted {way}", "{the} now stands further {way}"),
    *_all(
        "moved",
        (),
        "{the} moved {direction}",
        "{the} was moved {direction}",
        "{the} stands further {direction}",
    ),
    *_all(
        "moved",
        (),
        "{the} moved",
        "{the} stands elsewhere",
        "{the} was moved",
        "the position of {the} changed",
    ),
    *_all("moved", ("alignment",), "{the} is aligned differently", "the alignment of {the} changed"),
    *_all(
        "moved",
        ("order",),
        "{the} changed places",
        "the order of {the} changed",
        "{the} stands in another order",
    ),
]
_RESIZED = [
    *_all("resized", (), "{the} became {growth}", "{the} is {growth}", "{the} was made {growth}"),
    *_all("resized", (), "{the} became {grown}", "{the} is {grown} than before"),
    *_all("resized", (), "{the} changed its size", "the size of {the} changed", "{the} has another size"),
    *_either(
        "resized",
        ("text size",),
        ("larger", "smaller"),
        "the text of {the} became {more}",
        "{the} has {more} text",
        "{the} is set in a {more} type",
    ),
]
_FILL = ("fill", "theme", "colour map")
_INK = ("ink",)
_BORDER = ("border",)
_RECOLORED = [
    *_all(
        "recolored",
        (),
        "{the} turned from {before} to {after}",
        "{the} changed its color from {before} to {after}",
    ),
    *_all(
        "recolored",
        (),
        "{the} is now {after}",
        "{the} is {after} instead of {before}",
        "{the} became {shade}",
    ),
    *_all("recolored", _FILL, "the background of {the} turned from {before} to {after}"),
    *_all(
        "recolored", _FILL, "the background of {the} is now {after}", "the background of {the} became {shade}"
    ),
    *_all(
        "recolored",
        _INK,
        "the text of {the} turned from {before} to {after}",
        "the text of {the} is now {after}",
    ),
    *_all("recolored", _INK, "the text of {the} became {shade}"),
    *_all("recolored", _BORDER, "the border of {the} turned from {before} to {after}"),
    *_all("recolored", _BORDER, "the border of {the} is now {after}", "the border of {the} became {shade}"),
    *_all(
        "recolored", (), "the color of {the} changed", "{the} has another color", "{the} changed its color"
    ),
    *_either(
        "recolored",
        ("opacity",),
        ("more opaque", "paler"),
        "{the} became {more}",
        "{the} is {more} than before",
        "{the} looks {more}",
    ),
]
_RESTYLED = [
    *_either(
        "restyled",
        ("border width",),
        ("thicker", "thinner"),
        "the border of {the} became {more}",
        "{the} has a {more} border",
        "the outline of {the} is {more}",
    ),
    *_either(
        "restyled",
        ("line width",),
        ("thicker", "thinner"),
        "{the} became {more}",
        "the line of {the} is {more}",
        "{the} is drawn with a {more} line",
    ),
    *_all("restyled", ("line width",), "the line width of {the} changed"),
    *_either(
        "restyled",
        ("radius",),
        ("rounder", "sharper"),
        "the corners of {the} became {more}",
        "{the} has {more} corners",
        "the corners of {the} are {more}",
    ),
    *_either(
        "restyled",
        ("weight",),
        ("bolder", "thinner"),
        "the text of {the} became {more}",
        "{the} is set in a {more} type",
        "{the} has {more} letters",
    ),
    *_either("restyled", ("shadow",), ("gained", "lost"), "{the} {on} a shadow", "{the} {on} its shadow"),
    *_either(
        "restyled", ("slant",), ("now", "no longer"), "{the} is {on} in italics", "{the} is {on} slanted"
    ),
    *_either(
        "restyled",
        ("decoration",),
        ("gained", "lost"),
        "{the} {on} a line under or through its text",
        "the text of {the} {on} a line",
    ),
    *_either("restyled", ("letter case",), ("now", "no longer"), "{the} is {on} in capitals"),
    *_either("restyled", ("texture",), ("now", "no longer"), "{the} is {on} striped"),
    *_either("restyled", ("sharpness",), ("now", "no longer"), "{the} is {on} blurred"),
    *_either(
        "restyled",
        ("line style",),
        ("now", "no longer"),
        "the border of {the} is {on} dashed",
        "{the} is {on} dashed",
    ),
    *_either(
        "restyled",
        ("clipping",),
        ("now", "no longer"),
        "the text of {the} is {on} cut off",
        "{the} is {on} too narrow for its text",
    ),
    *_all("restyled", ("face",), "{the} is set in another typeface", "the typeface of {the} changed"),
    *_all("restyled", ("line spacing",), "the lines of {the} are spaced differently"),
    *_all("restyled", ("marker shape",), "the markers of {the} have another shape"),
    *_all("restyled", (), "the style of {the} changed", "{the} looks different", "{the} was restyled"),
]
_REWRITTEN = [
    *_all(
        "rewritten",
        (),
        "{the} changed from {text_before} to {text_after}",
        "the text of {the} changed from {text_before} to {text_after}",
        "{the} now reads {text_after}",
        "{the} reads {text_after} instead of {text_before}",
    ),
    *_all(
        "rewritten", (), "the text of {the} changed", "the words of {the} changed", "{the} reads differently"
    ),
    *_all("rewritten", ("number",), "the number of {the} changed", "{the} shows another number"),
    *_all("rewritten", ("language",), "{the} is in another language", "the language of {the} changed"),
    *_all("rewritten", ("formula",), "the formula of {the} changed"),
]
_REPLACED = [
    *_all(
        "replaced",
        (),
        "{the} was replaced",
        "{the} was exchanged for another one",
        "{the} shows something else",
    ),
    *_all("replaced", ("picture",), "{the} shows another picture"),
    *_all("replaced", ("icon",), "{the} shows another symbol"),
    *_all("replaced", ("values",), "{the} shows other values", "the values of {the} changed"),
]
_STATES = [
    *_either("replaced", (), ("now", "no longer"), "{the} is {on} checked", state="checked"),
    *_either("replaced", (), ("was checked", "was unchecked"), "{the} {on}", state="checked"),
    *_either("replaced", (), ("now", "no longer"), "{the} is {on} loading", state="loading"),
    *_either("replaced", (), ("now", "no longer"), "{the} is {on} missing its picture", state="broken"),
    *_either("recolored", (), ("now", "no longer"), "{the} is {on} disabled", state="disabled"),
    *_either("recolored", (), ("now", "no longer"), "{the} is {on} selected", state="selected"),
    *_either("recolored", (), ("now", "no longer"), "{the} is {on} highlighted", state="selected"),
    *_either("recolored", (), ("now", "no longer"), "{the} is {on} highlighted", state="hovered"),
    *_either("recolored", (), ("now", "no longer"), "{the} is {on} marked as wrong", state="error"),
    *_either("restyled", (), ("now", "no longer"), "{the} is {on} focused", state="focused"),
    *_either("restyled", (), ("gained", "lost"), "{the} {on} a focus frame", state="focused"),
]

TEMPLATES: tuple[Template, ...] = (
    *_ADDED,
    *_REMOVED,
    *_MOVED,
    *_RESIZED,
    *_RECOLORED,
    *_RESTYLED,
    *_REWRITTEN,
    *_REPLACED,
    *_STATES,
)
"""All wordings of one change."""

NO_CHANGE = (
    "nothing changed",
    "nothing visible changed",
    "no visible change",
    "the two pictures look the same",
    "there is no visible change",
    "both screens look the same",
)
"""The sentences that say that nothing changed."""
