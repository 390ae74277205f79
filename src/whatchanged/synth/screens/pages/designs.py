"""The designs of pages: published libraries, and the markup that they expect (``libraries.toml``).

A library's table gives the tag and the attributes of each part, such as "button-primary"; parts that are not
in the table get our own markup. Training, validation and test use different libraries. They are npm packages,
in the versions of ``packages/package-lock.json``.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from whatchanged.errors import MissingProgram
from whatchanged.files import cache_folder
from whatchanged.records import Split

HERE = Path(__file__).parent
PACKAGES = HERE / "packages"
"""The folder of package.json and package-lock.json."""
OWN_SHEET = HERE / "own.css"
"""The stylesheet of all pages that we write, under any library."""
OWN = "plain"
"""The name of our own design, which needs no package."""


@dataclass(frozen=True)
class Library:
    """A published library: its npm package and licence, its files, its markup, its dark mode.

    sheets, scripts: paths in node_modules. dark: attributes of the root element of a dark page; "" where the
    library has no dark mode. body: classes of the body. parts: part -> tag and attributes, all of them.
    """

    name: str
    package: str
    licence: str
    split: Split
    sheets: tuple[str, ...]
    scripts: tuple[str, ...]
    dark: str
    body: str
    parts: Mapping[str, str]
    published = False

    def head(self, modules: Path) -> str:
        """Return the head of its pages: its files, and our own styles."""
        sheets = "".join(
            f'<link rel="stylesheet" href="{(modules / path).as_uri()}">' for path in self.sheets
        )
        scripts = "".join(
            f'<script type="module" src="{(modules / path).as_uri()}"></script>' for path in self.scripts
        )
        return f"{sheets}<style>{OWN_SHEET.read_text(encoding='utf-8')}</style>{scripts}"


@cache
def libraries() -> tuple[Library, ...]:
    """Return every library, in the order of its file."""
    with (HERE / "libraries.toml").open("rb") as file:
        found = tomllib.load(file)
    own = found[OWN]["parts"]
    return tuple(
        Library(
            name=name,
            package=table["package"],
            licence=table["licence"],
            split=table["split"],
            sheets=tuple(table.get("sheets", ())),
            scripts=tuple(table.get("scripts", ())),
            dark=table.get("dark", ""),
            body=table.get("body", ""),
            parts={**own, **table["parts"]},
        )
        for name, table in found.items()
    )


def own_way() -> Library:
    """Return our own design, which has treatments for every split."""
    return next(library for library in libraries() if library.name == OWN)


def libraries_of(split: Split) -> tuple[Library, ...]:
    """Return the libraries whose pages belong to this split."""
    return tuple(library for library in libraries() if library.split == split)


def find_modules(named: Path | None) -> Path:
    """Return the folder node_modules with every library's files.

    named: that folder, or the one that contains it; None for the cache folder. Raises MissingProgram with the
    command that installs what is missing.
    """
    files = [(lib.package, path) for lib in libraries() for path in (*lib.sheets, *lib.scripts)]
    return find_files("Drawing pages", named, files)


def find_files(what: str, named: Path | None, files: Sequence[tuple[str, str]]) -> Path:
    """Return the folder node_modules with files of npm packages, (package, path in the folder) each.

    what: the purpose of the files, for the message. named: as for ``find_modules``. Raises MissingProgram.
    """
    base = named or cache_folder() / "screens"
    modules = base if base.name == "node_modules" else base / "node_modules"
    missing = sorted({package for package, path in files if not (modules / path).is_file()})
    if missing:
        place = modules.parent
        raise MissingProgram(
            what,
            f"the npm packages {', '.join(missing)} in {modules}",
            f"mkdir -p {place} && cp {PACKAGES}/package*.json {place} && "
            f"npm ci --legacy-peer-deps --ignore-scripts --prefix {place}",
        )
    return modules
