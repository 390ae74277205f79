"""The tables of a recipe that have several kinds: ``[method]``, ``[vision]`` and ``[data]``.

One key of the table, its tag, names the kind, and the kind determines the other keys. Each kind is a file in
the package for its table, or comes from a plug-in.
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
    """One table of a recipe that has several kinds.

    key, tag: the kind of ``[key]`` is the value of ``key.tag``. base: the class from which all kinds derive.
    builtin: the kinds of this package; group: the entry points of other packages.
    default: the kind if the table names none; "" where the table must name one.
    """

    key: str
    tag: str
    base: type[Any]
    builtin: Mapping[str, str]
    group: str
    default: str = ""

    def names(self) -> tuple[str, ...]:
        """The names of all kinds, those of plug-ins last. Imports none of them."""
        return plugins.names(self.group, self.builtin)

    def named(self, given: Mapping[str, Any]) -> Any:
        """The kind that this table names."""
        return given.get(self.tag, self.default)

    def find(self, name: str) -> type[Any]:
        """The settings of a kind. Raises PluginError for a package that is broken."""
        return plugins.find(self.group, name, self.builtin, self._whole)

    def kinds(self) -> tuple[type[Any], ...]:
        """The settings of all kinds of this package."""
        return tuple(map(self.find, self.builtin))

    def kinds_with(self, key: str) -> tuple[str, ...]:
        """The kinds of this package that have this key."""
        return tuple(getattr(kind, self.tag) for kind in self.kinds() if key in keys_of(kind))

    def _whole(self, name: str, result: object) -> type[Any]:
        """Checks that recipes can fill these settings, as ``plugins.Check``."""
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
    """The settings' class of the method of this name. A class of another package is imported by this call.

    Raises RecipeError for an unknown name, PluginError for a package that is broken.
    """
    if not isinstance(name, str) or name not in method_names():
        hint = nearest(str(name), method_names())
        raise RecipeError(f"{where}: method.name: there is no method {toml_value(name)}." + hint)
    return METHOD.find(name)


def method_names() -> tuple[str, ...]:
    """The names of all methods that can be trained, those of other packages last."""
    return METHOD.names()
