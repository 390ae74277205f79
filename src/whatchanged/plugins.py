"""Plug-ins: methods, visions, sources, worlds, data sets, metrics and backbones from other installed
packages. A package declares its plug-ins as entry points in its ``pyproject.toml``:

    [project.entry-points."whatchanged.worlds"]
    streets = "my_package.world:WORLD"          # an object of whatchanged.worlds.World

    [project.entry-points."whatchanged.datasets"]
    street_pairs = "my_package.reader"          # a module with recognises(path) and read(path, reading)

    [project.entry-points."whatchanged.methods"]
    my_method = "my_package.settings:Settings"  # a method's settings, see whatchanged.recipes

    [project.entry-points."whatchanged.visions"]
    my_eyes = "my_package.settings:Eyes"        # a vision's settings, likewise

    [project.entry-points."whatchanged.sources"]
    my_stream = "my_package.settings:Stream"    # the settings of a source of examples, likewise

    [project.entry-points."whatchanged.metrics"]
    my-metric = "my_package.metric:score"       # (captions, references) -> a score of each caption

    [project.entry-points."whatchanged.backbones"]
    my-net = "my_package.net:open_net"          # (detail, weights) -> training.features.GridNetwork

Listing plug-ins imports no plug-in. A plug-in is imported on first use. If a plug-in cannot be loaded, one
line on stderr reports this, and everything else works. A plug-in whose name is already taken is left out,
with a line on stderr. A plug-in therefore never replaces a part of this package. If two plug-ins have the
same name, neither is used.
"""

import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import Distribution, EntryPoint, distributions
from pathlib import Path
from typing import Any, TypeVar

from whatchanged.errors import PluginError, printable

METHODS, VISIONS, SOURCES = "whatchanged.methods", "whatchanged.visions", "whatchanged.sources"
WORLDS, DATASETS, METRICS = "whatchanged.worlds", "whatchanged.datasets", "whatchanged.metrics"
BACKBONES = "whatchanged.backbones"
GROUPS: Mapping[str, str] = {
    METHODS: "method",
    VISIONS: "vision",
    SOURCES: "source",
    WORLDS: "world",
    DATASETS: "data set",
    METRICS: "metric",
    BACKBONES: "backbone",
}
"""A mapping from entry-point group to the word that messages use for an entry of the group."""

T = TypeVar("T")
Check = Callable[[str, object], T]
"""A function that checks the object of an entry point.

The arguments are the name of the entry and the object. The result is the object with its type. The function
raises TypeError or ValueError with a message that says what is wrong with the object.
"""


@dataclass(frozen=True)
class Plugin:
    """One entry point of an installed package. package: the distribution's name and version."""

    group: str
    name: str
    value: str
    package: str


def names(group: str, builtin: Collection[str]) -> tuple[str, ...]:
    """Return the built-in names in a group, followed by the names of plug-ins. Nothing is imported."""
    return (*builtin, *(plugin.name for plugin in installed(group, builtin)))


def find(group: str, name: str, builtin: Mapping[str, str], check: Check[T]) -> T:
    """Import and return the object with this name in a group.

    builtin: a mapping from each built-in name to "module:attribute". Raises PluginError for an unknown name,
    and for a plug-in that cannot be loaded.
    """
    if name in builtin:
        return check(name, EntryPoint(name, builtin[name], group).load())
    for plugin in installed(group, builtin):
        if plugin.name == name:
            return _load(plugin, check)
    known = ", ".join(names(group, builtin))
    raise PluginError(f"There is no {GROUPS[group]} {name!r}. Known: {known}.")


def find_all(group: str, builtin: Mapping[str, str], check: Check[T]) -> Iterator[tuple[str, T]]:
    """Yield every name and object of a group.

    Each object is imported just before it is yielded. Plug-ins that fail are left out.
    """
    for name in builtin:
        yield name, find(group, name, builtin, check)
    for plugin in installed(group, builtin):
        try:
            found = _load(plugin, check)
        except PluginError as error:
            warn_once(str(error))
        else:
            yield plugin.name, found


def installed(group: str, builtin: Collection[str] = ()) -> tuple[Plugin, ...]:
    """Return the plug-ins of a group by name.

    A plug-in whose name is already taken is left out, with a line on stderr.
    """
    results: dict[str, list[Plugin]] = {}
    for plugin in sorted(_entries(group), key=lambda plugin: (plugin.name, plugin.package)):
        results.setdefault(plugin.name, []).append(plugin)
    kept = []
    for name, plugins in results.items():
        what = f"{GROUPS[group]} {name!r}"
        packages = " and ".join(plugin.package for plugin in plugins)
        if name in builtin:
            warn_once(f"The {what} of {packages} is not used: whatchanged itself has one of that name.")
        elif len(plugins) > 1:
            warn_once(f"The {what} is not used: {packages} both bring one. Uninstall one of them.")
        else:
            kept.append(plugins[0])
    return tuple(kept)


def imported(position: str) -> Any:
    """Import and return the object at a position "module:name".

    The module belongs to this package or to a plug-in in use.
    """
    module, _, name = position.partition(":")
    return getattr(import_module(module), name)


def instance_of(wanted: type[T]) -> Check[T]:
    """Return a function that checks the object of an entry point.

    The object must have the type ``wanted``, and its name must equal the name of the entry.
    """

    def check(name: str, value: object) -> T:
        if not isinstance(value, wanted):
            raise TypeError(f"wanted an object of {wanted.__module__}.{wanted.__name__}, got {value!r}")
        _check_name(name, value)
        return value

    return check


def subclass_of(wanted: type[T], named_by: str = "name") -> Check[type[T]]:
    """Return a function that checks the class of an entry point.

    The class must be derived from ``wanted``, and its name must equal the name of the entry. named_by: the
    attribute of the class that contains its name.
    """

    def check(name: str, value: object) -> type[T]:
        if not isinstance(value, type) or not issubclass(value, wanted):
            raise TypeError(
                f"wanted a class derived from {wanted.__module__}.{wanted.__name__}, got {value!r}"
            )
        if missing := getattr(value, "__abstractmethods__", None):
            raise TypeError(f"{value.__name__} lacks {', '.join(sorted(missing))}")
        _check_name(name, value, named_by)
        return value

    return check


def _check_name(name: str, value: object, named_by: str = "name") -> None:
    own = getattr(value, named_by, name)
    if own != name:
        raise ValueError(f"it calls itself {own!r}; the name of its entry point should be the same")


_warned: set[str] = set()


def warn_once(text: str) -> None:
    """Print one line on stderr. A process prints each text only once."""
    if text not in _warned:
        _warned.add(text)
        print(printable(f"whatchanged: {text}"), file=sys.stderr)


def _load(plugin: Plugin, check: Check[T]) -> T:
    try:
        return check(plugin.name, EntryPoint(plugin.name, plugin.value, plugin.group).load())
    except Exception as error:  # whatever a stranger's module does when it is imported
        raise PluginError(
            f"The {GROUPS[plugin.group]} {plugin.name!r} of {plugin.package} cannot be used: {fault(error)}"
        ) from error


def fault(error: Exception) -> str:
    """Return the text of an error on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _entries(group: str) -> Iterator[Plugin]:
    """Return every entry point of a group, package by package.

    If a package is installed twice, only the entry points of the first installation are returned.
    """
    seen = set()
    for distribution in distributions(path=_folders()):
        if group not in (distribution.read_text("entry_points.txt") or ""):
            continue
        package = _package(distribution)
        name = package.split()[0].lower().replace("_", "-")
        if name in seen:
            continue
        seen.add(name)
        try:
            entries = list(distribution.entry_points.select(group=group))
        except Exception as error:  # the file is a stranger's, too
            warn_once(f"The entry points of {package} cannot be read: {fault(error)}")
            continue
        for entry in entries:
            yield Plugin(group, entry.name, entry.value, package)


def _folders() -> list[str]:
    """Return the folders of ``sys.path`` in which packages are searched.

    The working directory is left out, because its files may be untrusted. The working directory is included
    only if this package itself is inside.
    """
    here = os.path.realpath(os.curdir)
    if here == os.path.realpath(Path(__file__).parents[1]):
        return sys.path
    return [folder for folder in sys.path if os.path.realpath(folder or os.curdir) != here]


def _package(distribution: Distribution) -> str:
    about = {key: distribution.metadata[key] for key in distribution.metadata}  # may lack any of its keys
    return f"{about.get('Name', 'unnamed')} {about.get('Version', '')}".rstrip()
