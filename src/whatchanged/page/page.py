"""The content of a page as data.

Any text may be untrusted. The page therefore shows every text as text, never as markup.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Box = Sequence[float]
"""Left, top, right and bottom in pixels of the original picture. Right and bottom are exclusive."""

Table = tuple[str, Sequence[Sequence[str]]]
"""A title and rows. The first row is the header, and the first column contains the names of the rows."""


@dataclass(frozen=True)
class Badge:
    """One or two words beside the name of a pair. ``tone`` indicates whether they are good or bad news."""

    text: str
    tone: Literal["plain", "good", "bad", "doubt"] = "plain"


@dataclass(frozen=True)
class SystemSentence:
    """The caption of a pair by one of several systems.

    name   the name of the system
    parts  the parts of the sentence; each has a flag that highlights a difference from the other systems
    facts  short remarks
    """

    name: str
    parts: Sequence[tuple[str, bool]]
    facts: Sequence[str] = ()


@dataclass(frozen=True)
class Pair:
    """One pair of pictures with everything that the page shows about it.

    id          the name of the pair; for a file, its relative path
    before      the path of the picture before; None if there is none, for example for an added file
    after       the path of the picture after; None if there is none
    line        the fields of the pair's output line, as `caption` and `compare` write it: ``caption``,
                ``error``, ``no_change``, ``verdict``, ``doubtful``, ``answer``, ``unfamiliar``, ``changes``
    references  the reference captions
    boxes       the annotated boxes of the change, before and after
    ignored     the boxes in which differences do not count
    heatmaps    the attention, (2, rows, columns); the cells cover the entire pictures
    words       each word of the sentence with its attention, (2, rows, columns), as in ``heatmaps``;
                empty if the attention is not known
    badges      badges beside the name
    facts       short remarks below everything else
    tags        the values by which pairs can be filtered, such as {"type": "color"}
    captions    the sentences of several systems, shown beside each other instead of the caption in ``line``
    fixed       on a review page, the reason why the pair cannot be accepted; empty if it can be accepted
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
    """Pairs that belong together and are shown under one heading.

    sentence  a sentence about the common change
    members   the indices of the pairs in ``Page.pairs``, in the order of the page, beginning with ``odd``
    odd       the members that show a further change in addition to the common one
    closed    whether the members are hidden until the reader opens the group
    command   on a review page, the shell command that accepts the group; empty if there is none
    """

    sentence: str
    members: Sequence[int]
    odd: Sequence[int] = ()
    closed: bool = False
    command: str = ""


@dataclass(frozen=True)
class Review:
    """Settings of a page on which pairs can be accepted and rejected. The page keeps and saves the decisions.

    report   the name of the report, under which the browser keeps and saves the decisions
    command  the shell command that applies the saved decisions; empty if no command can apply the decisions
    why      the reason why no command can apply the decisions, and an alternative
    """

    report: str
    command: str = ""
    why: str = ""


@dataclass(frozen=True)
class Page:
    """The content of a page.

    title    the heading
    pairs    the pairs, in the order of the list
    summary  the paragraphs below the title
    tables   the tables below the summary
    notes    the remarks in small print below the tables
    groups   the groups, in the order of the page; pairs without a group follow under a separate heading
    orders   other orders of the pairs: a mapping from label to indices in ``pairs``; if there are no groups,
             the first order is shown first
    review   the settings for accepting and rejecting pairs; None if the pairs can only be viewed
    """

    title: str
    pairs: Sequence[Pair]
    summary: Sequence[str] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    groups: Sequence[Group] = ()
    orders: Mapping[str, Sequence[int]] = field(default_factory=dict)
    review: Review | None = None
