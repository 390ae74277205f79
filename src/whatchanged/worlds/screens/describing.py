"""A model's claim put into words: a noun as exact as the model is sure, and the wording that says most."""

from collections.abc import Mapping

from whatchanged import words
from whatchanged.worlds import Claim
from whatchanged.worlds.screens.elements import ANYTHING, ELEMENTS, nouns_of
from whatchanged.worlds.screens.kinds import KINDS
from whatchanged.worlds.screens.slots import Naming, fill, fits
from whatchanged.worlds.screens.templates import TEMPLATES
from whatchanged.worlds.screens.truth import ScreenChange


def describe(claim: Claim) -> tuple[str | None, str]:
    """The name of the element, None where it is not sure, and the statement.

    What was not measured is not said: a wording is chosen whose every slot is known, and a finer word for the
    change is in it only where the claim has one.
    """
    element = surest(claim.elements, claim.named)
    kind = next(kind for kind in KINDS if kind == claim.kind)
    change = ScreenChange(kind, element or "", "", claim.box_before, claim.box_after, claim.values)
    able = [template for template in TEMPLATES if fits(template, change)]
    if element is None:  # what is drawn on a ground may be a line as well as a text
        able = [one for one in able if one.kind != "recolored" or "text of" not in one.text]
    plain = [template for template in able if not template.state]
    noun = ANYTHING if element is None else nouns_of(element)[0]
    # "the words of the text", not "the text of the text"
    template = max(plain, key=lambda one: (len(one.slots), noun not in one.text.split(), bool(one.aspects)))
    text = fill(template, change, Naming(noun, with_position=True), claim.size)
    if claim.rest is not None and any(claim.rest):
        text += f", which moved the rest {words.way(*claim.rest)}"
    return element, text


def surest(elements: Mapping[str, float], least: float) -> str | None:
    """The most exact element that fits with at least this probability; None where none does.

    An element fits whatever it is itself, and whatever it is a broader word for.
    """
    chances = dict.fromkeys(ELEMENTS, 0.0)
    covers = dict.fromkeys(ELEMENTS, 0)
    for name, chance in elements.items():
        if name not in ELEMENTS:
            continue
        for fitting in {name, *ELEMENTS[name].broader}:
            if fitting in ELEMENTS:
                chances[fitting] += chance
    for element in ELEMENTS.values():
        for fitting in {element.name, *element.broader}:
            if fitting in ELEMENTS:
                covers[fitting] += 1
    sure = [name for name, chance in chances.items() if chance >= least]
    return min(sure, key=lambda name: (covers[name], -chances[name]), default=None)
