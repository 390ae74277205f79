"""Predicates of statements, derived only from the kind and the values of a change.

A predicate begins with its verb, so any subject can precede it: "was added", "turned from blue to dark grey",
"became bolder", "moved right by 8 pixels". For several objects the verb is in the plural. If a measurement is
missing, the predicate is less specific. A predicate never claims more than the values contain.
"""

from collections.abc import Callable, Mapping

from whatchanged import words
from whatchanged.measured.result import Kind, Values
from whatchanged.measured.rules import colors


def predicate(kind: Kind | None, values: Values, count: int = 1) -> str:
    """Return the predicate for one object, or for ``count`` similar objects."""
    unlike = UNLIKE.get((kind, str(values.get("aspect", ""))))
    plain = _PLAIN[kind] if unlike is None else f"{unlike}{colors.instead(values)}"
    return _Verbs(count).finish(exact(kind, values) or plain)


def is_exact(kind: Kind | None, values: Values) -> bool:
    """Return whether the predicate is more specific than the kind: an amount, a colour, a state or an
    aspect."""
    return exact(kind, values) is not None


def exact(kind: Kind | None, values: Values) -> str | None:
    """Return the predicate in the singular if the values are more specific than the kind, or None."""
    state = _state(values)
    if state is not None:
        return state
    aspect = str(values.get("aspect", ""))
    phrase = _BY_ASPECT.get((kind, aspect)) or _BY_KIND.get(kind)
    told = phrase(values) if phrase is not None else None
    return f"{told}{colors.and_turned(values)}" if told and aspect in _OF_TYPE else told


_OF_TYPE = ("text size", "slant")
"""Aspects beside which a new colour of the text is told."""


_PLAIN: Mapping[Kind | None, str] = {
    "added": "was added",
    "removed": "was removed",
    "moved": "moved",
    "resized": "changed its size",
    "recolored": "changed its colour",
    "restyled": "changed its shape or its edge",
    "rewritten": "looks different",
    "replaced": "was replaced",
    None: "changed",
}
"""The predicates for changes with a known kind and no further values."""

UNLIKE: Mapping[tuple[Kind | None, str], str] = {
    ("replaced", "icon"): "looks different",
    ("replaced", "part"): "looks different",
    ("restyled", "shape"): "looks slightly different",
    ("restyled", "weight"): "looks different",
    ("restyled", "radius"): "changed the shape of its corners",
    ("restyled", "border"): "changed along its edges",
}
"""The predicates for aspects that were chosen only because no other aspect fits.

They state only that something looks different and name no cause.
"""

STATES: Mapping[str, tuple[str, str]] = {
    "checked": ("was checked", "was unchecked"),
    "on": ("was turned on", "was turned off"),
    "selected": ("was selected", "is no longer selected"),
    "focused": ("got a focus ring", "lost its focus ring"),
    "disabled": ("was disabled", "was enabled"),
    "hovered": ("was highlighted", "is no longer highlighted"),
    "open": ("was opened", "was closed"),
    "expanded": ("was expanded", "was collapsed"),
    "error": ("was marked as wrong", "is no longer marked as wrong"),
    "loading": ("is now loading", "is no longer loading"),
}
"""The predicates for a state that began and for a state that ended."""


class _Verbs:
    """The grammatical number of the verbs in a predicate."""

    def __init__(self, count: int) -> None:
        self.several = count > 1

    def finish(self, text: str) -> str:
        """Return a singular predicate in this grammatical number."""
        if not self.several:
            return text
        first, _, rest = text.partition(" ")
        verb = _PLURALS.get(first, first)
        rest = (
            f" {rest}".replace(" its ", " their ")
            .replace(" is ", " are ")
            .replace(" around it", " around them")
        )
        return f"{verb}{rest}".rstrip()


_PLURALS = {
    "wraps": "wrap",
    "was": "were",
    "is": "are",
    "has": "have",
    "points": "point",
    "stands": "stand",
    "shows": "show",
    "reads": "read",
    "looks": "look",
}
"""A mapping from singular verbs to their plural, where the two forms differ."""


def _state(values: Values) -> str | None:
    """Return the predicate for a change of state, or None if the state or its direction is unknown."""
    wordings = STATES.get(str(values.get("state")))
    on = values.get("on_after")
    return wordings[0 if on else 1] if wordings is not None and isinstance(on, bool) else None


def _amounts(values: Values) -> tuple[float, float] | None:
    """Return the amounts before and after, or None if one of them is unknown or they are equal."""
    one, other = values.get("amount_before"), values.get("amount_after")
    if not isinstance(one, int | float) or not isinstance(other, int | float) or one == other:
        return None
    return one, other


def _either(more: str, less: str) -> Callable[[Values], str | None]:
    """Return a function that chooses a predicate by whether an amount grew or shrank."""

    def phrase(values: Values) -> str | None:
        amounts = _amounts(values)
        return None if amounts is None else more if amounts[1] > amounts[0] else less

    return phrase


def _with_amounts(more: str, less: str) -> Callable[[Values], str | None]:
    """Return the same function with both amounts in pixels: "became larger, 14 to 16 pixels"."""

    def phrase(values: Values) -> str | None:
        amounts = _amounts(values)
        if amounts is None:
            return None
        text = more if amounts[1] > amounts[0] else less
        one, other = (_rounded(amount) for amount in amounts)
        return text if one == other else f"{text}, {one} to {other} pixels"

    return phrase


def _radius(values: Values) -> str | None:
    """Return the predicate for other corners, with their radii where they were measured."""
    more, less = "got rounder corners", "got sharper corners"
    told = _with_amounts(more, less)(values)
    if told is None and "rounder" in values:
        return more if values["rounder"] else less
    return told


def _rounded(amount: float) -> str:
    """Return the amount in whole pixels, or in half pixels if it is below three."""
    return f"{round(2 * amount) / 2:g}" if amount < 3 else f"{round(amount)}"


def _turned(now: str, no_longer: str) -> Callable[[Values], str | None]:
    """Return a function that chooses a predicate by whether a property is present after the change."""

    def phrase(values: Values) -> str | None:
        on = values.get("on_after")
        return (now if on else no_longer) if isinstance(on, bool) else None

    return phrase


def _always(text: str) -> Callable[[Values], str | None]:
    """Return a function that always returns this predicate."""
    return lambda values: text


def _moved(values: Values) -> str | None:
    """Return a predicate such as "moved right by 8 pixels", including the new alignment if it is known."""
    way = words.way(int(values.get("dx", 0)), int(values.get("dy", 0)))
    align = values.get("align_after")
    aligned = {"left": "is now aligned left", "right": "is now aligned right", "center": "is now centred"}
    if isinstance(align, str) and align in aligned:
        return f"{aligned[align]}, {way.split(' and ')[0]}" if way else aligned[align]
    return f"moved {way}" if way else None


def _highlight(values: Values) -> str | None:
    """Return a predicate such as 'moved from "Home" to "Settings"', or "moved down by 36 pixels" if the items
    have no known words."""
    one, other = values.get("item_before"), values.get("item_after")
    if one and other:
        return f"moved from {one} to {other}"
    way = words.way(int(values.get("dx", 0)), int(values.get("dy", 0)))
    return f"moved {way}" if way else None


def _turn(values: Values) -> str | None:
    """Return a predicate such as "points up instead of down", or "was turned upside down"."""
    one, other = values.get("points_before"), values.get("points_after")
    if one and other:
        return f"points {other} instead of {one}"
    return {
        90: "was turned by 90 degrees clockwise",
        180: "was turned upside down",
        270: "was turned by 90 degrees counterclockwise",
    }.get(int(values.get("degrees", 0)))


def _another(values: Values) -> str | None:
    """Return the predicate for an icon that is another drawing now."""
    return "was replaced by another one" if values.get("exchanged") else None


def _axis_limit(values: Values) -> str | None:
    """Return the predicate for the content of a frame that was squeezed, stretched or moved along an axis."""
    if "factor" not in values:
        return "shows another range of its axis"
    across, factor = bool(values["axis"]), values["factor"]
    if factor == 1:
        text = f"moved {'sideways' if across else 'upwards or downwards'}"
    else:
        way = "squeezed" if factor < 1 else "stretched"
        text = f"was {way} to about {100 * factor:.0f} % of its {'width' if across else 'height'}"
    return f"{text}, perhaps by another range of its axis"


def length(values: Values) -> str | None:
    """Return a predicate such as "became 12 pixels wider" or "became 12 pixels wider and 3 pixels
    shorter"."""
    # The values "dx" and "dy" have the same meaning for a moved side of an object.
    width = int(values.get("dwidth", values.get("dx", 0)))
    height = int(values.get("dheight", values.get("dy", 0)))
    parts = []
    if width:
        parts.append(f"{words.pixels(abs(width))} {'wider' if width > 0 else 'narrower'}")
    if height:
        parts.append(f"{words.pixels(abs(height))} {'taller' if height > 0 else 'shorter'}")
    if "wider" in values:
        parts.append("wider" if values["wider"] else "narrower")
    if "taller" in values:
        parts.append("taller" if values["taller"] else "shorter")
    return f"became {' and '.join(parts)}{_space(values)}" if parts else None


def _space(values: Values) -> str:
    """Return the words for the space that a thing gained around its content, ", with 4 pixels more space
    above and below its content", or an empty text.

    values: the key ``space`` contains the gained pixels of each side.
    """
    sides: dict[int, list[str]] = {}
    for side, step in (values.get("space") or {}).items():
        sides.setdefault(step, []).append(side)
    texts = [
        f"{words.pixels(abs(step))} {'more' if step > 0 else 'less'} space {_AT_SIDES['+'.join(sorted(at))]}"
        for step, at in sides.items()
    ]
    return f", with {' and '.join(texts)} its content" if texts else ""


_AT_SIDES = {
    "top": "above",
    "bottom": "below",
    "left": "left of",
    "right": "right of",
    "bottom+top": "above and below",
    "left+right": "left and right of",
    "bottom+left+right+top": "around",
    "left+top": "above and left of",
    "bottom+left": "below and left of",
    "right+top": "above and right of",
    "bottom+right": "below and right of",
    "left+right+top": "above and beside",
    "bottom+left+right": "below and beside",
    "bottom+left+top": "left of, above and below",
    "bottom+right+top": "right of, above and below",
}
"""The words for the sides of a thing's content, by their sorted names."""


def _size(values: Values) -> str | None:
    """Return the predicate for a change of size: both sizes if they are known, else the result of
    ``length``."""
    if "size_before" in values and "size_after" in values and values["size_before"] != values["size_after"]:
        one, other = ("{} x {}".format(*values[name]) for name in ("size_before", "size_after"))
        if not values.get("drawing"):
            return f"changed its size from {one} to {other} pixels"
        return f"became {'larger' if values.get('grew') else 'smaller'}, {one} to {other} pixels"
    if values.get("drawing"):
        return f"became {'larger' if values.get('grew') else 'smaller'}"
    return length(values)


def _padding(values: Values) -> str | None:
    """Return a predicate such as "has 8 pixels more padding at the left"."""
    step = values.get("step")
    if not isinstance(step, int | float) or not step:
        return None
    side = f" at the {values['side']}" if values.get("side") else ""
    return f"has {words.pixels(abs(round(step)))} {'more' if step > 0 else 'less'} padding{side}"


def _gap(values: Values) -> str | None:
    """Return a predicate such as "stands 8 pixels further apart"."""
    step = values.get("step")
    if not isinstance(step, int | float) or not step:
        return None
    if "side" in values:
        return f"{'grew' if step > 0 else 'shrank'} by {words.pixels(abs(round(step)))}"
    return f"stands {words.pixels(abs(round(step)))} {'further apart' if step > 0 else 'closer together'}"


def _data(values: Values) -> str | None:
    """Return the predicate for a plot that shows other data."""
    return "shows other data" if values.get("same_axes") else "shows other data or another range of its axes"


def _opacity(values: Values) -> str | None:
    """Return a predicate such as "faded" or "became less transparent"."""
    amounts = _amounts(values)
    if amounts is None:
        return None
    if amounts[1] > amounts[0]:
        return f"became less transparent, about {amounts[1] / amounts[0]:.2g} times as strong as before"
    fainter = "was dimmed" if values.get("towards") == "dark" else "faded"
    return f"{fainter} to about {5 * round(20 * amounts[1] / amounts[0])} % of its strength"


def _words(values: Values) -> str | None:
    """Return a predicate such as 'changed from "a" to "b"', or 'now reads "b"' if only the words after are
    known.

    If no words are known, "reads differently" requires that the text was read. Letters that look different
    may otherwise be an icon, or the same words in another typeface.
    """
    one, other = values.get("text_before"), values.get("text_after")
    if one and other:
        which = ", one of them" if values.get("one_of_them") else ""
        return f'changed{which} from "{one}" to "{other}"' if one != other else None
    if other:
        return f'now reads "{other}"'
    if one:
        return f'no longer reads "{one}"'
    return "reads differently" if values.get("other_words") else None


def _of_same_words(values: Values) -> str | None:
    """Return the predicate for a text with the same words and a slightly different style."""
    if not values.get("same_words"):
        return None
    amounts = _amounts(values)
    if amounts is None:
        return "is drawn slightly differently"
    return f"looks slightly {'bolder' if amounts[1] > amounts[0] else 'thinner'}"


def _number(values: Values) -> str | None:
    """Return the predicate for a changed number of objects."""
    amounts = _amounts(values)
    return None if amounts is None else f"is {amounts[1]:g} instead of {amounts[0]:g}"


_BY_KIND: Mapping[Kind | None, Callable[[Values], str | None]] = {
    "moved": _moved,
    "resized": _size,
    "recolored": colors.turned,
    "rewritten": _words,
}
"""The predicates for kinds whose aspect has no entry of its own."""


def _over_veil(verb: str, veiled: str, bare: str) -> Callable[[Values], str | None]:
    """Return a function for a dialog that came or went together with a veil over the rest of the picture."""

    def phrase(values: Values) -> str | None:
        dark = values.get("veil")
        return None if dark is None else f"was {verb}, and the rest {veiled if dark else bare}"

    return phrase


_BY_ASPECT: Mapping[tuple[Kind | None, str], Callable[[Values], str | None]] = {
    ("moved", "highlight"): _highlight,
    ("recolored", "highlight"): _highlight,
    ("restyled", "highlight"): _highlight,
    ("moved", "axis limit"): _axis_limit,
    ("moved", "order"): _always("changed places"),
    ("moved", "another order"): _always("stand in another order"),
    ("moved", "gap"): _gap,
    ("moved", "wrap"): _always("wraps at other words"),
    ("resized", "highlight"): length,
    ("resized", "length"): length,
    ("resized", "text size"): _with_amounts("became larger", "became smaller"),
    ("resized", "marker"): _either("got larger markers", "got smaller markers"),
    ("resized", "padding"): _padding,
    ("resized", "gap"): _gap,
    ("resized", "number"): _number,
    ("added", "dialog"): _over_veil("added", "was dimmed", "became paler"),
    ("removed", "dialog"): _over_veil("removed", "is no longer dimmed", "is no longer paler"),
    ("recolored", "opacity"): _opacity,
    ("recolored", "palette"): colors.several_turned,
    ("replaced", "turned"): _turn,
    ("replaced", "icon"): _another,
    ("recolored", "surface"): colors.surface,
    ("replaced", "content"): _always("shows other content"),
    ("replaced", "data"): _data,
    ("replaced", "fill"): colors.covered,
    ("restyled", "weight"): _either("became bolder", "became less bold"),
    ("restyled", "slant"): _turned("is now in italics", "is no longer in italics"),
    ("restyled", "decoration"): _turned("was underlined", "is no longer underlined"),
    ("restyled", "struck"): _turned("was struck through", "is no longer struck through"),
    ("restyled", "letter spacing"): _either("is spaced wider", "is spaced tighter"),
    ("restyled", "line spacing"): _either(
        "has more space between its lines", "has less space between its lines"
    ),
    ("restyled", "face"): _always("is set in another typeface"),
    ("restyled", "outline"): _turned("got an outline", "lost its outline"),
    ("restyled", "border width"): _with_amounts("got a thicker outline", "got a thinner outline"),
    ("restyled", "line width"): _either("is drawn with a thicker line", "is drawn with a thinner line"),
    ("restyled", "line style"): _turned("is now dashed", "is no longer dashed"),
    ("restyled", "radius"): _radius,
    ("restyled", "ring"): _turned("got a ring around it", "lost the ring around it"),
    ("restyled", "shadow"): _turned("got a shadow", "lost its shadow"),
    ("rewritten", "capitals"): _turned("is now written in capitals", "is no longer written in capitals"),
    ("restyled", "filled"): _turned("is now filled", "is now only outlined"),
    ("replaced", "filled"): _turned("is now filled", "is now only outlined"),
    ("recolored", "contrast"): _either("is drawn more strongly", "is drawn more faintly"),
    ("restyled", "shape"): _of_same_words,
    ("restyled", "markers"): _turned("got markers", "lost its markers"),
}
"""The predicates for kinds with a certain aspect."""
