"""The tables of a recipe that have several kinds: ``[method]``, ``[vision]`` and ``[data]``.

One key of each table, the tag, gives the kind of the table, and the kind determines the other keys. Each kind
is one file in this package, or comes from a plug-in.
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
    default: the kind of a table without a tag; "" where the tag is required.
    """

    key: str
    tag: str
    base: type[Any]
    builtin: Mapping[str, str]
    group: str
    default: str = ""

    def names(self) -> tuple[str, ...]:
        """Return the names of all kinds, with the kinds of plug-ins last. No kind is imported."""
        return plugins.names(self.group, self.builtin)

    def named(self, given: Mapping[str, Any]) -> Any:
        """Return the kind that the tag of ``table`` gives."""
        return given.get(self.tag, self.default)

    def find(self, name: str) -> type[Any]:
        """Return the settings class of a kind. Raises PluginError for a broken package."""
        return plugins.find(self.group, name, self.builtin, self._whole)

    def kinds(self) -> tuple[type[Any], ...]:
        """Return the settings classes of all kinds of this package."""
        return tuple(map(self.find, self.builtin))

    def kinds_with(self, key: str) -> tuple[str, ...]:
        """Return the kinds of this package that have the key ``key``."""
        return tuple(getattr(kind, self.tag) for kind in self.kinds() if key in keys_of(kind))

    def _whole(self, name: str, result: object) -> type[Any]:
        """Checks, as a ``plugins.Check``, that recipes can fill these settings."""
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
    """Return the keys of a table of this kind."""
    return tuple(entry.name for entry in fields(kind))


def find_method(name: Any, where: str = "method") -> type[MethodSettings]:
    """Return the settings class of the method with this name. This call imports the class of a plug-in.

    Raises RecipeError for an unknown name, PluginError for a broken package.
    """
    if not isinstance(name, str) or name not in method_names():
        hint = nearest(str(name), method_names())
        raise RecipeError(f"{where}: method.name: there is no method {toml_value(name)}." + hint)
    return METHOD.find(name)


def method_names() -> tuple[str, ...]:
    """Return the names of all methods that can be trained, with the methods of other packages last."""
    return METHOD.names()
