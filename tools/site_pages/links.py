"""Links from pages to files of the repository that lie outside docs/."""

import os
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
"""A Markdown link or picture: opening, target, anchor, closing."""
COPIES = "repository"
"""Folder of the site in which linked files lie, by their path in the repository."""


class Links:
    """Rewrites links, and notes which files of the repository the site must therefore hold.

    root: the repository. pages: what lies outside docs/ and has a page of the site: path -> page.
    """

    def __init__(self, root: Path, pages: Mapping[str, str]) -> None:
        self.root = root
        self.pages = pages
        self.linked: dict[str, Path] = {}
        """Place on the site -> file or folder."""

    def rewrite(self, markdown: str, source: str) -> str:
        """The page's text with links that hold on the site. source: the page's path in the repository.

        A link that leads nowhere stays as it is: MkDocs warns of it.
        """
        place = self.pages.get(source, source.removeprefix("docs/"))

        def replaced(found: re.Match[str]) -> str:
            target = self._target(found[2], source)
            if target is None:
                return found[0]
            nearer = os.path.relpath(target, PurePosixPath(place).parent)
            return f"{found[1]}{nearer}{found[3] or ''}{found[4]}"

        return LINK.sub(replaced, markdown)

    def _target(self, link: str, source: str) -> str | None:
        """The place on the site that a link should lead to; None where the link is right as it is."""
        if ":" in link or link.startswith("/"):
            return None
        path = os.path.normpath(PurePosixPath(source).parent / link)
        if path in self.pages:
            return self.pages[path]
        if path.startswith("docs/"):
            return path.removeprefix("docs/")
        if path.startswith("..") or not (self.root / path).exists():
            return None
        if path == "README.md":
            return "index.md"
        copy = f"{COPIES}/{path}"
        if (self.root / path).is_dir():
            copy += "/index.html"
            for file in sorted((self.root / path).iterdir()):
                if file.is_file():
                    self.linked[f"{COPIES}/{path}/{file.name}"] = file
        self.linked[copy] = self.root / path
        return copy

    def listing(self, folder: Path) -> str:
        """A folder as a page of links to its files."""
        names = sorted(path.name for path in folder.iterdir() if path.is_file())
        title = folder.relative_to(self.root).as_posix()
        lines = "\n".join(f'<li><a href="{name}">{name}</a></li>' for name in names)
        head = f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{title}</title>'
        return f"{head}\n<h1>{title}</h1>\n<ul>\n{lines}\n</ul></html>\n"
