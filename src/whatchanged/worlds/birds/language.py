"""Write texts about birds (comparisons of two birds, descriptions of one bird), and judge such texts.

``compare`` writes in the style of Birds-to-Words, ``describe`` in the style of the captions of CUB. Both
choose the mentioned traits at random and write only true statements. ``is_true`` parses the texts that these
two functions can write, and variants with exchanged words or birds. For other texts it returns None.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from whatchanged.worlds.birds.bird import COLORED, COLORS, MEASURED, PATTERNED, Bird

WORDS: Mapping[str, Sequence[str]] = {
    "beak": ("beak", "bill"),
    "head": ("head",),
    "breast": ("breast", "chest", "belly"),
    "wings": ("wings",),
    "tail": ("tail",),
    "legs": ("legs", "feet"),
}
MARKS = {"spotted": ("spots",), "striped": ("stripes", "streaks")}
CLEAR = 0.25
"""The smallest difference between two lengths or sizes that a text mentions."""
LONG, SHORT = 0.65, 0.35
"""The limits beyond which a part is called long or short. When a text is judged, the limit is 1/2."""

_PARTS = {word: part for part, words in WORDS.items() for word in words}
_COLORS = {color: color for color in COLORS} | {"gray": "grey", "beige": "tan"}
_SPOKEN = {"grey": ("grey", "gray"), "tan": ("tan", "beige")}
_MARKS = {word: pattern for pattern, words in MARKS.items() for word in words}
_COLOR, _PART = "|".join(_COLORS), "|".join(_PARTS)
_WITH_MARKS = re.compile(rf"\bwith ({_COLOR}) ({'|'.join(_MARKS)})")
_DESCRIBED = re.compile(
    rf"(?:an? )?(?:(?P<length>long|short) )?(?:(?P<pattern>plain|spotted|striped) )?"
    rf"(?:(?P<colour>{_COLOR}) )?(?P<part>{_PART}|crest|eye stripe)(?: marked_(?P<mark>\w+)_(?P<marks>\w+))?"
)
_COMPARED = re.compile(rf"(?:an? )?(?P<how>longer|shorter) (?P<part>{_PART})(?: than animal(?P<other>[12]))?")
_SIZED = re.compile(r"(?P<how>larger|bigger|smaller)(?: than animal(?P<other>[12]))?")
_WHOLE = re.compile(rf"(?:an? )?(?:mostly )?(?:(?P<size>small|large) )?(?P<colour>{_COLOR})?(?: bird)?")
_SUBJECT = re.compile(r"(animal[12]|both animals|both|this bird|the bird|this)(?: (has|have|is|are))?\b ?")
_SPLIT = re.compile(r"[.,;]|\bwhile\b|\bwhereas\b|\bbut\b|\bwith\b|\band\b")
_ANY_BIRD = Bird(*("black",) * 6, *(0.5,) * 4, "plain", "plain", "white", "white", "", crest=False)
NO_DIFFERENCE = (
    "both animals look the same",
    "these two animals look the same",
    "the two look exactly the same",
    "there are no differences between the two",
)
"""The sentences that say that two birds do not differ."""


def compare(one: Bird, two: Bird, rng: np.random.Generator) -> str:
    """Return a paragraph about "animal 1" and "animal 2" with one to four differences.

    Larger parts are more likely.
    """
    results = differences(one, two)
    if not results:
        return _sentence(str(rng.choice(NO_DIFFERENCE)))
    weights = np.array([weight for _, weight in results])
    count = min(len(results), int(rng.integers(1, 5)))
    chosen = rng.choice(len(results), count, replace=False, p=weights / weights.sum())
    said = [_contrast(results[i][0], one, two, rng) for i in chosen]
    if rng.random() < 0.15 and one.legs == two.legs:
        said.append(f"both animals have {_spoken(one.legs, rng)} legs")
    return " ".join(_sentence(text) for text in said)


def describe(bird: Bird, rng: np.random.Generator) -> str:
    """Return a sentence about one bird: its main colour or size, and two or three of its parts."""
    parts = [str(part) for part in rng.permutation(COLORED)[: int(rng.integers(2, 4))]]
    objects = [_described(bird, part, rng) for part in parts]
    if bird.crest and rng.random() < 0.4:
        objects.append("a crest")
    if bird.stripe and rng.random() < 0.5:
        objects.append(f"{_a(_spoken(bird.stripe, rng))} eye stripe")
    listed = ", ".join(objects[:-1]) + f" and {objects[-1]}"
    size = "small " if bird.size < SHORT else "large " if bird.size > LONG else ""
    openings = (
        f"this bird has {listed}",
        f"{_a(size + _spoken(bird.wings, rng))} bird with {listed}",
        f"this bird is mostly {_spoken(bird.wings, rng)} with {listed}",
    )
    return openings[int(rng.integers(len(openings)))] + (" ." if rng.random() < 0.5 else ".")


def differences(one: Bird, two: Bird) -> list[tuple[str, float]]:
    """Return the differences between two birds with their weights. Striking differences have larger weights.

    The keys are PART, "PART length", "PART pattern", size, stripe and crest.
    """
    weights = {"head": 3.0, "breast": 3.0, "wings": 4.0, "tail": 1.5, "beak": 2.0, "legs": 1.5}
    results = [(part, weights[part]) for part in COLORED if getattr(one, part) != getattr(two, part)]
    results += [
        (f"{part} length", 1.5) for part in MEASURED if abs(one.length(part) - two.length(part)) > CLEAR
    ]
    results += [(f"{part} pattern", 2.0) for part in PATTERNED if _marks(one, part) != _marks(two, part)]
    results += [("size", 1.0)] if abs(one.size - two.size) > CLEAR else []
    results += [("stripe", 1.5)] if one.stripe != two.stripe else []
    results += [("crest", 1.5)] if one.crest != two.crest else []
    return results


def _contrast(what: str, one: Bird, two: Bird, rng: np.random.Generator) -> str:
    """Return a text about one difference, which is a key of ``differences``."""
    part, _, kind = what.partition(" ")
    if what == "size" or kind == "length":
        mine, theirs = (one.size, two.size) if what == "size" else (one.length(part), two.length(part))
        more, less = ("larger", "smaller") if what == "size" else ("longer", "shorter")
        first = int(rng.integers(2))  # index of the animal that is the subject
        greater = mine > theirs if first == 0 else theirs > mine
        tail = f" than animal {2 - first}" if rng.random() < 0.7 else ""
        noun = "" if what == "size" else f" {rng.choice(WORDS[part])}"
        article = "is " if what == "size" else "has " if part == "legs" else "has a "
        return f"animal {first + 1} {article}{more if greater else less}{noun}{tail}"
    if what in ("stripe", "crest"):
        number, bird = (1, one) if getattr(one, what) else (2, two)
        item = f"{_a(_spoken(bird.stripe, rng))} eye stripe" if what == "stripe" else "a crest"
        if what == "stripe" and one.stripe and two.stripe:
            other = f"{_a(_spoken(two.stripe, rng))} eye stripe"
            return f"animal 1 has {item}{_joint(rng)}animal 2 has {other}"
        return f"animal {number} has {item}"
    if part == "wings" and not kind and rng.random() < 0.4:
        mostly = "mostly " if rng.random() < 0.5 else ""
        colors = _spoken(one.wings, rng), _spoken(two.wings, rng)
        return f"animal 1 is {mostly}{colors[0]}{_joint(rng)}animal 2 is {mostly}{colors[1]}"
    noun = str(rng.choice(WORDS[part]))
    objects = [_described(bird, part, rng, noun, marked=kind == "pattern") for bird in (one, two)]
    return f"animal 1 has {objects[0]}{_joint(rng)}animal 2 has {objects[1]}"


def _described(
    bird: Bird, part: str, rng: np.random.Generator, noun: str = "", marked: bool | None = None
) -> str:
    """Return the description of a part, such as "a long yellow beak" or "brown wings with white stripes".

    noun: the word for the part; "" draws one at random.
    marked: whether to mention the pattern; None draws this at random.
    """
    noun = noun or str(rng.choice(WORDS[part]))
    words = [_spoken(getattr(bird, part), rng), noun]
    if part in MEASURED and rng.random() < 0.4:
        length = bird.length(part)
        words = ["long"] * (length > LONG) + ["short"] * (length < SHORT) + words
    behind = ""
    if part in PATTERNED and (rng.random() < 0.5 if marked is None else marked):
        pattern, mark = bird.pattern(part)
        if pattern == "plain":
            words.insert(0, "plain")
        elif rng.random() < 0.3:
            words.insert(0, pattern)
        else:
            behind = f" with {_spoken(mark, rng)} {rng.choice(MARKS[pattern])}"
    said = " ".join(words)
    return (said if part in ("wings", "legs") else _a(said)) + behind


def _marks(bird: Bird, part: str) -> tuple[str, str]:
    pattern, mark = bird.pattern(part)
    return (pattern, mark if pattern != "plain" else "")


def _spoken(color: str, rng: np.random.Generator) -> str:
    return str(rng.choice(_SPOKEN.get(color, (color,))))


def _a(words: str) -> str:
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def _joint(rng: np.random.Generator) -> str:
    return str(rng.choice((" while ", ", ", " and ", ". ")))


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}.".replace(". a", ". A")


def is_true(text: str, *birds: Bird) -> bool | None:
    """Return whether a text is true of these birds: one bird, or animal 1 and animal 2.

    Return False if any clause is false. Otherwise return None if a clause cannot be parsed, and True if all
    can.
    """
    if says_no_difference(text):
        return len(birds) == 2 and not differences(*birds)
    verdicts = [_is_true(clause, subject, birds) for subject, clause in _clauses(text)]
    if not verdicts:
        return None
    if False in verdicts:
        return False
    return None if None in verdicts else True


def reads(text: str, birds: int | None = None) -> bool:
    """Return whether every clause of a text can be parsed as a statement about this many birds.

    If ``birds`` is None, one and two birds are tried.
    """
    if birds is None:
        return reads(text, 1) or reads(text, 2)
    if says_no_difference(text):
        return birds == 2
    # Whether a clause can be parsed depends on the number of birds, but not on their appearance.
    results = [_is_true(clause, subject, (_ANY_BIRD,) * birds) for subject, clause in _clauses(text)]
    return bool(results) and None not in results


def says_no_difference(text: str) -> bool:
    """Return whether a text says that two birds look the same."""
    plain = _plain(text)
    return any(sentence in plain for sentence in NO_DIFFERENCE)


def _plain(text: str) -> str:
    """Return the text in lower case, with normalised spaces, and with "animal1" for "animal 1"."""
    words = re.sub(r"animal ([12])", r"animal\1", " ".join(text.lower().replace("``", "").split()))
    return re.sub(r" ([.,;])", r"\1", words)


def _clauses(text: str) -> Iterator[tuple[str, str]]:
    """Yield the (subject, statement) of each clause.

    A clause without a subject has the subject of the previous clause.
    """
    marked = _WITH_MARKS.sub(r"marked_\1_\2", _plain(text))
    subject = "this bird"
    for clause in _SPLIT.split(marked):
        clause = clause.strip()
        if not clause:
            continue
        named = _SUBJECT.match(clause)
        if named:
            subject = named[1]
            clause = clause[named.end() :].strip()
        yield subject, clause


def _is_true(clause: str, subject: str, birds: Sequence[Bird]) -> bool | None:
    """Return whether a clause is true of its subject, or None if the clause cannot be parsed."""
    numbers = [int(subject[-1]) - 1] if subject.startswith("animal") else list(range(len(birds)))
    if max(numbers) >= len(birds) or (len(birds) == 2 and subject in ("this bird", "the bird", "this")):
        return None
    if found := _COMPARED.fullmatch(clause) or _SIZED.fullmatch(clause):
        return _compares(found, numbers, birds)
    read = _has if (item := _DESCRIBED.fullmatch(clause)) else _looks
    found = item or _WHOLE.fullmatch(clause)
    if found is None or not any(found.groupdict().values()):
        return None
    return all(read(found, birds[number]) for number in numbers)


def _compares(match: re.Match[str], numbers: Sequence[int], birds: Sequence[Bird]) -> bool | None:
    if len(numbers) != 1 or len(birds) != 2:
        return None
    if match["other"] and int(match["other"]) - 1 == numbers[0]:
        return False
    part = match.groupdict().get("part")
    measures = [bird.size if part is None else _measure(bird, _PARTS[part]) for bird in birds]
    if None in measures:
        return None
    gap = float(measures[numbers[0]] or 0) - float(measures[1 - numbers[0]] or 0)
    return gap > 0 if match["how"] in ("longer", "larger", "bigger") else gap < 0


def _measure(bird: Bird, part: str) -> float | None:
    return bird.length(part) if part in MEASURED else None


def _has(match: re.Match[str], bird: Bird) -> bool:
    """Return whether the bird has the described part."""
    said, part = match.groupdict(), match["part"]
    if part == "crest":
        return bird.crest and not said["colour"]
    if part == "eye stripe":
        return bool(bird.stripe) and _COLORS.get(said["colour"] or "", bird.stripe) == bird.stripe
    part = _PARTS[part]
    length = _measure(bird, part)
    pattern, mark = bird.pattern(part) if part in PATTERNED else ("", "")
    return (
        (not said["colour"] or _COLORS[said["colour"]] == getattr(bird, part))
        and (not said["length"] or (length is not None and (length > 0.5) == (said["length"] == "long")))
        and (not said["pattern"] or said["pattern"] == pattern)
        and (not said["mark"] or (_COLORS[said["mark"]], _MARKS[said["marks"]]) == (mark, pattern))
    )


def _looks(match: re.Match[str], bird: Bird) -> bool:
    """Return whether the bird has the described main colour and size."""
    color, size = match["colour"], match["size"]
    return (not color or _COLORS[color] == bird.wings) and (
        not size or (bird.size > 0.5) == (size == "large")
    )
