"""Pairs that changed in the same way: found by their signatures, told once, odd ones first."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.fitted import FAR, WEIGHTS
from whatchanged.measured.result import Measured, Statement
from whatchanged.measured.signature import LENGTH, PARTS, region_parts

HALF = 0.5
"""The distance of a part that speaks half as much as any distance can."""
VARIANT = 0.5
"""How much is left of what speaks against one cause where two names are variants of one another."""

_VARIANTS = (
    "chrome chromium firefox webkit safari edge ie ie11 electron opera mobile desktop tablet phone "
    "android ios iphone ipad mac macos darwin linux windows win win32 osx ubuntu light dark contrast "
    "theme default ltr rtl small medium large xs sm md lg xl xxl retina hidpi 1x 2x 3x "
)
VARIANT_WORDS = frozenset(_VARIANTS.split())
"""Words of a file's name that say under which browser or theme it was made, or how large."""
_SIZE = re.compile(r"\d+x\d+|\d{3,4}(px|w)?")
"""A size in a name: 1280x800, 320, 320px, 1024w."""


@dataclass(frozen=True)
class AlikePairs:
    """Pairs of one cause.

    members   their indices, those with something beyond the common change first
    odd       the members that show something beyond it
    sentence  what they share
    """

    members: tuple[int, ...]
    odd: tuple[int, ...]
    sentence: str


def find_groups(answers: Sequence[Measured], names: Sequence[str] = ()) -> list[AlikePairs]:
    """Groups of the pairs that differ, the largest first; identical pairs are in none.

    names: of the pairs' files, in the same order; variants of one name are more likely to be of one cause.
    """
    from scipy.cluster import hierarchy  # slow to import
    from scipy.spatial.distance import squareform

    differing = [index for index, answer in enumerate(answers) if answer.verdict != "identical"]
    if not differing:
        return []
    labels = np.ones(len(differing), int)
    if len(differing) > 1:
        distances = pair_distances(
            [answers[index].signature for index in differing],
            [names[index] for index in differing] if names else [],
        )
        tree = hierarchy.linkage(squareform(distances, checks=False), "average")
        labels = hierarchy.fcluster(tree, FAR, "distance")
    groups = []
    for label in np.unique(labels):
        members = [differing[k] for k in np.flatnonzero(labels == label)]
        groups.append(_group(members, answers))
    return sorted(groups, key=lambda group: (-len(group.members), group.members))


def pair_distances(signatures: Sequence[Sequence[float]], names: Sequence[str] = ()) -> NDArray[np.float64]:
    """How much speaks against one cause of each two pairs, (N, N)."""
    parts = part_distances(signatures)
    total = np.asarray(sum(WEIGHTS[name] * distance for name, distance in parts.items()))
    if names:
        bases = [base_name(name) for name in names]
        variants = np.array([[one == other for other in bases] for one in bases])
        total = np.where(variants, VARIANT * total, total)
    np.fill_diagonal(total, 0.0)
    return total


def part_distances(signatures: Sequence[Sequence[float]]) -> dict[str, NDArray[np.float64]]:
    """The distance of each part of each two signatures, (N, N) each: d / (d + HALF), from 0 to 1."""
    rows = np.array([signature or [0.0] * LENGTH for signature in signatures])
    distances = {}
    for name, place in PARTS.items():
        part = rows[:, place]
        distances[name] = np.sqrt(((part[:, None] - part[None]) ** 2).sum(axis=2))
    distances["places"] = _region_distances(rows)
    return {name: distance / (distance + HALF) for name, distance in distances.items()}


def _region_distances(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """How unlike the most alike places of each two pairs are, 0 to 1: in extent and in what changed."""
    extents, shapes = region_parts(rows)
    alike = np.einsum("ipc,jqc->ijpq", shapes, shapes)
    apart = np.abs(extents[:, None, :, None] - extents[None, :, None, :]).sum(axis=4)
    return np.asarray(np.clip(1 - alike + apart, 0.0, 1.0).min(axis=(2, 3)))


def base_name(name: str) -> str:
    """A file's name without the words for browser, theme and size, and without its folder's."""
    return "-".join(word for word in words_of(name) if not is_variant_word(word)).lower()


def words_of(name: str) -> list[str]:
    """The words and numbers of a file's name and of its folders'."""
    path = PurePath(name)
    return [word for part in (*path.parts[:-1], path.stem) for word in re.findall(r"[A-Za-z0-9]+", part)]


def is_variant_word(word: str) -> bool:
    """Whether a word of a name says under which browser, theme or size it was made."""
    return word.lower() in VARIANT_WORDS or _SIZE.fullmatch(word) is not None


def _group(members: Sequence[int], answers: Sequence[Measured]) -> AlikePairs:
    """A group with its words; who has a kind of change that most others lack comes first."""
    shown = {index: {_gist(one) for one in answers[index].statements} for index in members}
    counts = Counter(gist for gists in shown.values() for gist in gists)
    common = {gist for gist, count in counts.items() if 2 * count >= len(members)}
    odd = [index for index in members if len(members) > 2 and shown[index] - common]
    rest = [index for index in members if index not in odd]
    odd.sort(key=lambda index: (-len(shown[index] - common), index))
    return AlikePairs((*odd, *rest), tuple(odd), _shared(members, answers, common))


def _gist(statement: Statement) -> tuple[str, str]:
    """What two statements must share to say the same."""
    return str(statement.kind), str(statement.values.get("aspect"))


def _shared(members: Sequence[int], answers: Sequence[Measured], common: set[tuple[str, str]]) -> str:
    """The sentence of the member that shows the common change best: the plainest one."""
    if all(answers[index].verdict == "noise" for index in members):
        return "Nothing visible changed."
    best = min(
        (index for index in members if answers[index].statements),
        key=lambda index: (
            -len({_gist(one) for one in answers[index].statements} & common),
            len(answers[index].statements),
            index,
        ),
    )
    return answers[best].sentence
