"""Words that a text gained or lost at its beginning or end because it wraps elsewhere: they stand in the line
above or below in the other picture."""

from collections.abc import Sequence
from dataclasses import replace

from whatchanged.answers.line_ends import box_of_words
from whatchanged.answers.sites import TextSite
from whatchanged.measured import Box
from whatchanged.text.finding import find_lines
from whatchanged.text.reader import LineAt, PairReader, ReadLine

ASIDE = 400
"""How many pixels beside a text the lines above and below it are searched for."""
LINES = 2.5
"""How far above or below a text the next line may stand, in heights of a line."""


def wrapped_elsewhere(site: TextSite, reader: PairReader) -> None:
    """Change the statement of a site, in place, from other words to words that moved to the next line, if the
    other picture shows them there."""
    found = _more(site)
    if found is None:
        return
    side, words, first = found
    lines = [one for one in site.own_lines if one.at.side == side] or site.read[side]
    if not lines:
        return
    here = _with_words(lines, words, first)
    there = _with_words(_next_lines(site, reader, 1 - side, first), words, not first)
    if here is None or there is None:
        return
    ends = (there, here) if side == 1 else (here, there)
    (was, now), read = (box for box, _ in ends), ([line] for _, line in ends)
    values = {"aspect": "position", "dx": now[0] - was[0], "dy": now[1] - was[1], "words": " ".join(words)}
    site.read = (next(read), next(read))
    site.statement = replace(
        site.statement, kind="moved", box_before=was, box_after=now, boxes=(now,), values=values
    )


def _more(site: TextSite) -> tuple[int, list[str], bool] | None:
    """Return the words that one picture has more, at the beginning (True) or at the end (False) of the text,
    and the side of this picture; None where the words differ otherwise."""
    values = site.statement.values
    texts = [str(values.get(name, "")).split() for name in ("text_before", "text_after")]
    side = int(len(texts[1]) > len(texts[0]))
    longer, shorter = texts[side], texts[1 - side]
    more = len(longer) - len(shorter)
    if site.statement.kind != "rewritten" or site.statement.count > 1 or not shorter or more < 1:
        return None
    if longer[more:] == shorter:
        return side, longer[:more], True
    return (side, longer[-more:], False) if longer[: len(shorter)] == shorter else None


def _next_lines(site: TextSite, reader: PairReader, side: int, above: bool) -> list[ReadLine]:
    """Return the lines of a picture above the text of a site, or those below it."""
    box = (site.statement.box_before, site.statement.box_after)[side]
    own = site.read[side]
    if box is None or not own:
        return []
    height = own[0].at.box[3] - own[0].at.box[1]
    width, bottom = reader.pictures[side].shape[1], reader.pictures[side].shape[0]
    far = round(LINES * height)
    top, low = (max(0, box[1] - far), box[1] + 1) if above else (box[3] - 1, min(bottom, box[3] + far))
    window = (max(0, box[0] - ASIDE), top, min(width, box[2] + ASIDE), low)
    if window[1] >= window[3]:
        return []
    lines = [line for line in find_lines(reader.pictures[side], window) if line[3] - line[1] > height / 2]
    return [one for one in reader.read(LineAt(side, line) for line in lines) if one is not None]


def _with_words(lines: Sequence[ReadLine], words: Sequence[str], first: bool) -> tuple[Box, ReadLine] | None:
    """Return the box of the words with which one of the lines begins (first) or ends, and this line, or
    None."""
    count = len(words)
    for line in lines:
        texts = [word.text for word in line.line.words]
        at = range(count) if first else range(max(0, len(texts) - count), len(texts))
        if [texts[i] for i in at if i < len(texts)] == list(words):
            return box_of_words(line, at), line
    return None
