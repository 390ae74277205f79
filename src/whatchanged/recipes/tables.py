"""The tables of a recipe that are one of several: ``[method]``, ``[vision]`` and ``[data]``.

Each says by one key, its tag, which settings it has. What there is of each kind lies in a package of its own,
one file a kind, and in plug-ins.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from whatchanged import plugins
from whatchanged.errors import RecipeError
from whatchanged.recipes.hints import nearest
from whatchanged.recipes.methods import METHODS, MethodSettings
from whatchanged.recipes.sources import SOURCES, DataSettings
from whatchanged.recipes.values import toml_value
from whatchanged.recipes.visions import VISIONS, VisionSettings


@dataclass(frozen=True)
class TaggedTable:
    """One table of a recipe that is one of several.

    key, tag: ``[key]`` is of the kind that ``key.tag`` names. base: what every kind's settings derive from.
    builtin: the kinds of this package; group: the entry points of others.
    default: the kind of a table that names none; "" where it must.
    """

    key: str
    tag: str
    base: type[Any]
    builtin: Mapping[str, str]
    group: str
    default: str = ""

    def names(self) -> tuple[str, ...]:
        """What there is, plug-ins last. Imports none."""
        return plugins.names(self.group, self.builtin)

    def named(self, given: Mapping[str, Any]) -> Any:
        """The kind that this table names."""
        return given.get(self.tag, self.default)

    def find(self, name: str) -> type[Any]:
        """The settings of a kind that there is. Raises PluginError for a package that is broken."""
        return plugins.find(self.group, name, self.builtin, self._whole)

    def kinds(self) -> tuple[type[Any], ...]:
        """The settings of all kinds of this package."""
        return tuple(map(self.find, self.builtin))

    def kinds_with(self, key: str) -> tuple[str, ...]:
        """The kinds of this package that have this key."""
        return tuple(getattr(kind, self.tag) for kind in self.kinds() if key in keys_of(kind))

    def _whole(self, name: str, result: object) -> type[Any]:
        """Settings that recipes can fill, as ``plugins.Check``."""
        kind = plugins.subclass_of(self.base, self.tag)(name, result)
        if not hasattr(kind, "__dataclass_fields__") or keys_of(kind)[0] != self.tag:
            raise TypeError(f"{kind.__name__} should be a dataclass whose first field is {self.tag}")
        if getattr(kind, self.tag, None) != name:
            raise ValueError(f"{kind.__name__}.{self.tag} has no default; it should be {name!r}")
        return kind


METHOD = TaggedTable("method", "name", MethodSettings, METHODS, plugins.METHODS)
VISION = TaggedTable("vision", "kind", VisionSettings, VISIONS, plugins.VISIONS, next(iter(VISIONS)))
DATA = TaggedTable("data", "source", DataSettings, SOURCES, plugins.SOURCES, next(iter(SOURCES)))
TABLES: Mapping[str, TaggedTable] = {table.key: table for table in (METHOD, VISION, DATA)}


def keys_of(kind: type[Any]) -> tuple[str, ...]:
    """The keys of a kind's table."""
    return tuple(entry.name for entry in fields(kind))


def find_method(name: Any, where: str = "method") -> type[MethodSettings]:
    """The settings' class of the method of this name; one of another package is imported now.

    Raises RecipeError for an unknown name, PluginError for a package that is broken.
    """
    if not isinstance(name, str) or name not in method_names():
        hint = nearest(str(name), method_names())
        raise RecipeError(f"{where}: method.name: there is no method {toml_value(name)}." + hint)
    return METHOD.find(name)


def method_names() -> tuple[str, ...]:
    """The names of the methods that can be trained, those of other packages last."""
    return METHOD.names()
