"""The elements of screens, and the nouns for them.

Each element has one name, which the truth uses. Sentences use the nouns of the element, and most often its
first noun. The nouns of a broader element are also correct, and so is "something".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

ANYTHING = "something"
"""The noun that is correct for every element."""


@dataclass(frozen=True)
class Element:
    """One type of element on a screen.

    nouns: the singular nouns; ``plural`` makes the plurals.
    broader: the names of elements whose nouns are also correct for this element.
    """

    name: str
    nouns: tuple[str, ...]
    broader: tuple[str, ...] = ()


_ALL = (
    # general elements, to which the others refer as broader elements
    Element("text", ("text", "words")),
    Element("line", ("line", "rule")),
    Element("area", ("area", "block", "region")),
    Element("field", ("field", "form field")),
    Element("bar", ("bar", "strip")),
    Element("mark", ("mark", "sign")),
    # pages and application windows
    Element("page", ("page", "window", "picture")),
    Element("button", ("button",)),
    Element("icon button", ("icon button",), ("button", "icon")),
    Element("link", ("link", "hyperlink"), ("text",)),
    Element("text field", ("text field", "input field", "input"), ("field",)),
    Element("text area", ("text area", "text box"), ("field",)),
    Element("search field", ("search field", "search box"), ("field", "text field")),
    Element("select", ("dropdown", "select box"), ("field",)),
    Element("checkbox", ("checkbox", "check box"), ("field",)),
    Element("radio button", ("radio button",), ("field",)),
    Element("switch", ("switch", "toggle"), ("field",)),
    Element("slider", ("slider",), ("field",)),
    Element("progress bar", ("progress bar",), ("bar",)),
    Element("spinner", ("spinner", "loading indicator"), ("mark",)),
    Element("badge", ("badge", "counter"), ("mark",)),
    Element("chip", ("chip", "tag"), ("mark",)),
    Element("avatar", ("avatar",), ("picture",)),
    Element("icon", ("icon", "symbol"), ("mark",)),
    Element("picture", ("image", "photo"), ("area",)),
    Element("heading", ("heading", "title"), ("text",)),
    Element("paragraph", ("paragraph",), ("text",)),
    Element("label", ("label", "caption"), ("text",)),
    Element("hint", ("hint", "help text"), ("text",)),
    Element("list item", ("list item", "list entry"), ("text",)),
    Element("list", ("list",), ("area",)),
    Element("menu item", ("menu item", "menu entry"), ("text",)),
    Element("menu", ("menu",), ("area",)),
    Element("tab", ("tab",)),
    Element("breadcrumb", ("breadcrumb", "breadcrumb link"), ("link", "text")),
    Element("navigation bar", ("navigation bar", "navigation"), ("bar",)),
    Element("navigation link", ("navigation link", "navigation item"), ("link", "text")),
    Element("toolbar", ("toolbar",), ("bar",)),
    Element("card", ("card", "panel"), ("area",)),
    Element("dialog", ("dialog", "dialog box"), ("area",)),
    Element("banner", ("banner", "message", "notice"), ("area", "bar")),
    Element("tooltip", ("tooltip",), ("area",)),
    Element("form", ("form",), ("area",)),
    Element("table", ("table",), ("area",)),
    Element("table row", ("table row", "row")),
    Element("table cell", ("table cell", "cell"), ("text",)),
    Element("column header", ("column header", "header cell"), ("table cell", "text")),
    Element("code block", ("code block", "code"), ("area", "text")),
    Element("quote", ("quote", "block quote"), ("text",)),
    Element("divider", ("divider", "separator"), ("line",)),
    Element("calendar", ("calendar",), ("area",)),
    Element("day", ("day",), ("text",)),
    Element("step", ("step",), ("text",)),
    Element("page button", ("page button", "page link"), ("button", "link")),
    Element("footer", ("footer",), ("area",)),
    Element("scroll bar", ("scroll bar", "scrollbar"), ("bar",)),
    Element("cursor", ("text cursor", "caret"), ("line", "mark")),
    Element("statistic", ("statistic", "figure"), ("text",)),
    # charts and plots
    Element("chart", ("chart", "plot"), ("area",)),
    Element("plot title", ("plot title", "title"), ("text",)),
    Element("axis", ("axis",), ("line",)),
    Element("axis label", ("axis label",), ("label", "text")),
    Element("tick label", ("tick label",), ("label", "text")),
    Element("tick", ("tick", "tick mark"), ("line", "mark")),
    Element("grid", ("grid", "grid lines")),
    Element("legend", ("legend",), ("area",)),
    Element("legend entry", ("legend entry",), ("text",)),
    Element("series", ("series", "curve", "line"), ("line",)),
    Element("chart bar", ("bar", "column"), ("bar",)),
    Element("point", ("data point", "point"), ("mark",)),
    Element("marker", ("marker",), ("mark", "point")),
    Element("slice", ("slice", "sector"), ("area",)),
    Element("filled area", ("filled area",), ("area",)),
    Element("heat map", ("heat map", "image"), ("picture", "area")),
    Element("colour bar", ("color bar", "colour bar"), ("bar", "legend")),
    Element("annotation", ("annotation",), ("text", "label")),
    Element("error bar", ("error bar",), ("line", "mark")),
    Element("frame", ("frame", "plot frame"), ("line",)),
    # typeset documents
    Element("word", ("word",), ("text",)),
    Element("formula", ("formula", "equation"), ("text",)),
    Element("footnote", ("footnote", "note"), ("text",)),
    Element("page number", ("page number",), ("text",)),
    Element("page header", ("page header", "running head"), ("text",)),
    Element("figure", ("figure", "drawing"), ("picture", "area")),
    Element("figure caption", ("figure caption", "caption"), ("label", "text")),
    Element("rule", ("rule", "ruled line"), ("line", "divider")),
)

ELEMENTS: Mapping[str, Element] = {element.name: element for element in _ALL}
"""All elements by name."""


LINES = frozenset(
    {"line", "rule", "divider", "axis", "tick", "grid", "series", "error bar", "frame", "cursor"}
)
"""The elements that are lines. They have no border."""
WORDLESS = LINES | frozenset(
    {
        *(
            "mark",
            "icon",
            "avatar",
            "picture",
            "checkbox",
            "radio button",
            "switch",
            "slider",
            "progress bar",
        ),
        *(
            "spinner",
            "scroll bar",
            "chart bar",
            "point",
            "marker",
            "slice",
            "filled area",
            "heat map",
            "figure",
        ),
    }
)
"""The elements that contain no words. They have no text."""


def nouns_of(name: str) -> tuple[str, ...]:
    """Return the nouns for the element with this name, or the name itself if it is not in ``ELEMENTS``."""
    return ELEMENTS[name].nouns if name in ELEMENTS else (name,)


@cache
def fitting(name: str) -> frozenset[str]:
    """Return every correct noun for an element: the nouns of the element, the nouns of broader elements, and
    "something".
    """
    results = {ANYTHING, *nouns_of(name)}
    for broader in ELEMENTS[name].broader if name in ELEMENTS else ():
        results |= set(nouns_of(broader))
    return frozenset(results)


@cache
def all_nouns() -> frozenset[str]:
    """Return the nouns of all elements."""
    return frozenset(noun for element in _ALL for noun in element.nouns) | {ANYTHING}


PLURAL_ONLY = frozenset({"words", "grid lines"})
"""Nouns that name one element but take a plural verb: "the words are", not "the words is"."""
_PLURALS = {"axis": "axes"} | {same: same for same in ("code", "series", "navigation", *PLURAL_ONLY)}


def plural(noun: str) -> str:
    """Return the plural of a noun, such as "check boxes", "entries" or "buttons"."""
    if noun in _PLURALS:
        return _PLURALS[noun]
    if noun.endswith(("x", "ch", "sh", "ss")):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"
