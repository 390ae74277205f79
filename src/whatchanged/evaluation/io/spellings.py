"""Match the different spellings of a pair's id: ``256.png`` is also ``256`` and ``000256.png``."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable

from whatchanged.records import PairRecord

_ENDING = re.compile(r"\.(?:png|jpe?g|gif)(?=_|$)", re.IGNORECASE)
"""The extension of a picture, also where another name or the mark of a distractor follows."""
_PADDED = re.compile(r"^0+(?=\d+(?:$|\.|_n$))")
"""The zeros before a number that is the whole name."""


class Spellings:
    """Finds the pair that an id means, in any spelling."""

    def __init__(self, records: Iterable[PairRecord]) -> None:
        """records: every pair that an id may mean."""
        self._known: set[str] = set()
        self._pairs: defaultdict[str, set[str]] = defaultdict(set)
        self._groups: defaultdict[str, set[str]] = defaultdict(set)
        for record in records:
            self._known.add(record.pair_id)
            for name in (record.pair_id, file_names(record)):
                for key in _keys(name):
                    self._pairs[key].add(record.pair_id)
            self._groups[_plain(record.group_id)].add(record.pair_id)

    def meant(self, spelled: str) -> Collection[str]:
        """Return the ids of the pairs that the spelled id may mean: one, none, or several.

        An id in the spelling of the references means that pair alone. A number without an extension may mean
        every pair of its scene: ``28`` a changed pair and its distractor, ``28.png`` the changed one.
        """
        if spelled in self._known:
            return (spelled,)
        bare = _ENDING.search(spelled) is None
        for key in _keys(spelled):
            if key in self._pairs:
                return self._pairs[key] | (self._groups.get(key, set()) if bare else set())
        return ()


def file_names(record: PairRecord) -> str:
    """Return the names of both pictures, joined as in PCL's results; the id where there are no two
    pictures.
    """
    if record.after is None:
        return record.pair_id
    return f"{record.before.name}_{record.after.name}"


def image_id_of_pcl(record: PairRecord) -> str:
    """Return the name of the pair in PCL's results: both pictures, without extensions for Birds-to-Words."""
    if record.after is not None and record.pair_id == f"{record.before.stem}_{record.after.stem}":
        return record.pair_id
    return file_names(record)


def _keys(spelled: str) -> tuple[str, str]:
    """Return the forms of an id that are compared: without zeros before its number, first with extensions,
    then without.
    """
    return _PADDED.sub("", spelled), _plain(spelled)


def _plain(spelled: str) -> str:
    return _PADDED.sub("", _ENDING.sub("", spelled))
