"""How programs of the field spell a pair's id: ``256.png`` is also ``256`` and ``000256.png``."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable

from whatchanged.records import PairRecord

_ENDING = re.compile(r"\.(?:png|jpe?g|gif)(?=_|$)", re.IGNORECASE)
"""The ending of a picture's name, also where another name or the mark of a distractor follows."""
_PADDED = re.compile(r"^0+(?=\d+(?:$|\.|_n$))")
"""The zeros before a number that is the whole name."""


class Spellings:
    """Which pair an id means, however it is spelled."""

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
        """The ids of the pairs that this may mean: one, none, or several.

        An id that is spelled as the references spell it means that pair alone. A number without an ending may
        mean every pair of its scene: ``28`` a changed pair and its distractor, ``28.png`` the changed one.
        """
        if spelled in self._known:
            return (spelled,)
        bare = _ENDING.search(spelled) is None
        for key in _keys(spelled):
            if key in self._pairs:
                return self._pairs[key] | (self._groups.get(key, set()) if bare else set())
        return ()


def file_names(record: PairRecord) -> str:
    """The names of both pictures, joined as PCL's results join them; the id where there are no two."""
    if record.after is None:
        return record.pair_id
    return f"{record.before.name}_{record.after.name}"


def image_id_of_pcl(record: PairRecord) -> str:
    """How PCL's results name the pair: both pictures, of Birds-to-Words without their endings."""
    if record.after is not None and record.pair_id == f"{record.before.stem}_{record.after.stem}":
        return record.pair_id
    return file_names(record)


def _keys(spelled: str) -> tuple[str, str]:
    """What is compared: the name without the zeros before its number, with and then without endings."""
    return _PADDED.sub("", spelled), _plain(spelled)


def _plain(spelled: str) -> str:
    return _PADDED.sub("", _ENDING.sub("", spelled))
