"""The content of a page as data. Any text may come from a stranger; the page shows it as text, never as
markup.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Box = Sequence[float]
"""Left, top, right, bottom in pixels of the original picture; right and bottom are exclusive."""

Table = tuple[str, Sequence[Sequence[str]]]
"""Title and rows. The first row is the header, the first column names the rows."""


@dataclass(frozen=True)
class Badge:
    """A word or two beside a pair's name; ``tone`` says whether it is good or bad."""

    text: str
    tone: Literal["plain", "good", "bad", "doubt"] = "plain"


@dataclass(frozen=True)
class SystemSentence:
    """The caption of a pair by one of several systems.

    It has the system's name, the sentence in parts, each with whether it is highlighted as different from the
    others, and remarks.
    """

    name: str
    parts: Sequence[tuple[str, bool]]
    facts: Sequence[str] = ()


@dataclass(frozen=True)
class Pair:
    """One pair of pictures with everything that the page shows about it.

    id          its name; for a file its relative path
    before      the picture before; None where there is none, as of an added file
    after       the picture after; None where there is none
    line        the fields of the pair's line of output, as `caption` and `compare` write it: ``caption``,
                ``error``, ``no_change``, ``verdict``, ``doubtful``, ``answer``, ``unfamiliar``, ``changes``
    references  reference captions
    boxes       the annotated boxes of the change, before and after
    ignored     boxes in which differences do not count
    heatmaps    the attention, (2, rows, columns); the cells cover the whole pictures
    words       each word of the sentence with its attention, (2, rows, columns), as ``heatmaps``;
                empty where that is not known
    badges      shown beside the name
    facts       short remarks below everything else
    tags        what the pairs can be filtered by, such as {"type": "color"}
    captions    the sentences of several systems, shown beside each other in place of the line's own
    fixed       on a page for a review: why the pair cannot be accepted; empty where it can
    """

    id: str
    before: Path | None
    after: Path | None
    line: Mapping[str, Any] = field(default_factory=dict)
    references: Sequence[str] = ()
    boxes: tuple[Box | None, Box | None] = (None, None)
    ignored: Sequence[Box] = ()
    heatmaps: NDArray[np.floating[Any]] | None = None
    words: Sequence[tuple[str, NDArray[np.floating[Any]]]] = ()
    badges: Sequence[Badge] = ()
    facts: Sequence[str] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    captions: Sequence[SystemSentence] = ()
    fixed: str = ""


@dataclass(frozen=True)
class Group:
    """Pairs that belong together, shown under one heading.

    sentence  what they share
    members   their indices in ``Page.pairs``, in the order of the page; those of ``odd`` come first
    odd       the members with a further change beyond the shared one
    closed    whether the members are hidden until the reader opens the group
    command   on a page for a review: the shell command that accepts the group, or empty
    """

    sentence: str
    members: Sequence[int]
    odd: Sequence[int] = ()
    closed: bool = False
    command: str = ""


@dataclass(frozen=True)
class Review:
    """Marks a page on which pairs can be accepted and rejected; the page keeps and saves the decisions.

    report   the report's name, under which the browser keeps, and saves, the decisions
    command  the shell command that carries out the saved decisions; empty: none does
    why      the reason why no command does, and what to do instead
    """

    report: str
    command: str = ""
    why: str = ""


@dataclass(frozen=True)
class Page:
    """The content of a page.

    title    its heading
    pairs    in the order in which they are listed
    summary  paragraphs below the title
    tables   below the summary
    notes    small print below the tables
    groups   in the order of the page; pairs of no group follow under a heading of their own
    orders   other orders that the pairs can be put in: label -> places in ``pairs``; the first is shown first
             where there are no groups
    review   that the pairs can be accepted and rejected; None: they are only looked at
    """

    title: str
    pairs: Sequence[Pair]
    summary: Sequence[str] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    groups: Sequence[Group] = ()
    orders: Mapping[str, Sequence[int]] = field(default_factory=dict)
    review: Review | None = None
