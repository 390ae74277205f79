"""Predicates about colours, derived only from the values of a change."""

from whatchanged import words
from whatchanged.measured.result import Values


def instead(values: Values) -> str:
    """Return the colours of something that looks different, ", blue instead of red", or an empty text."""
    names = [
        words.color_name_of_code(code)
        for code in (values.get("color_after"), values.get("color_before"))
        if isinstance(code, str)
    ]
    return f", {names[0]} instead of {names[1]}" if len(names) == 2 and names[0] != names[1] else ""


def and_turned(values: Values) -> str:
    """Return the words for a new colour beside another change, ", and turned from grey to blue", or an empty
    text."""
    one, other = values.get("color_before"), values.get("color_after")
    if not isinstance(one, str) or not isinstance(other, str):
        return ""
    return f", and {words.step_of_codes(one, other)}"


def turned(values: Values) -> str | None:
    """Return a predicate such as "turned from blue to dark grey" or "became darker"."""
    one, other = values.get("color_before"), values.get("color_after")
    if not isinstance(one, str) or not isinstance(other, str) or one == other:
        return None
    return words.step_of_codes(one, other)


def several_turned(values: Values) -> str | None:
    """Return a predicate such as "took other colours: blue to dark red, green to pink"."""
    names = [[words.color_name_of_code(color) for color in pair] for pair in values.get("colors") or ()]
    pairs = dict.fromkeys(f"{one} to {other}" for one, other in names if one != other)
    if len(pairs) > 1:
        return f"took other colours: {', '.join(pairs)}"
    was = values.get("color_before")
    if isinstance(was, str):
        return f"took several colours instead of {words.color_name_of_code(was)}"
    return "took other colours"


def surface(values: Values) -> str | None:
    """Return a predicate such as "changed from filled blue to outlined" or "took a white fill"."""
    codes = {
        name: values.get(name) for name in ("fill_before", "fill_after", "outline_before", "outline_after")
    }
    names = {
        name: words.color_name_of_code(code) if isinstance(code, str) else None
        for name, code in codes.items()
    }
    fills = names["fill_before"], names["fill_after"]
    lines = names["outline_before"], names["outline_after"]
    if fills[0] and fills[1]:
        text = words.step_of_codes(str(codes["fill_before"]), str(codes["fill_after"]))
        if lines[0] and lines[1]:
            return text if lines[0] == lines[1] else f"{text}, its outline from {lines[0]} to {lines[1]}"
        line = lines[0] or lines[1]
        return f"{text} and {'lost its' if lines[0] else f'got {_a(str(line))}'} outline" if line else text
    if fills[0]:
        if lines[1] is None:
            return f"lost its {fills[0]} fill{' and its outline' if lines[0] else ''}"
        tail = "" if lines[1] == fills[0] else f" in {lines[1]}"
        return f"changed from filled {fills[0]} to outlined{tail}"
    if fills[1]:
        if lines[0] is not None:
            return f"changed from outlined to filled {fills[1]}"
        same = lines[1] is None or lines[1] == fills[1]
        return f"took {_a(fills[1])} fill{'' if same else f' and {_a(str(lines[1]))} outline'}"
    return None


def _a(name: str) -> str:
    """Return a colour's name with its article: "an orange", "a blue"."""
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def covered(values: Values) -> str | None:
    """Return a predicate such as "was replaced by a black area"."""
    color = values.get("color_after")
    if not isinstance(color, str):
        return None
    return f"was replaced by {_a(words.color_name_of_code(color))} area"
