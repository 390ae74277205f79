"""Installed packages for tests: a folder on ``sys.path`` with modules and the metadata that pip writes."""

import importlib
import sys
import tomllib
from pathlib import Path


class Site:
    """A folder of installed packages, made as a test goes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules: list[str] = []

    def install(self, package: str, entry_points: dict[str, dict[str, str]], **modules: str) -> None:
        """Write a package's metadata and modules. entry_points: group -> name -> value."""
        about = self.folder / f"{package.replace('-', '_')}-1.5.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.5\n")
        lines = []
        for group, entries in entry_points.items():
            lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
        (about / "entry_points.txt").write_text("\n".join(lines))
        for name, text in modules.items():
            (self.folder / f"{name}.py").write_text(text)
            self.modules.append(name)

    def install_project(self, project: Path) -> None:
        """Install a project with the layout src/PACKAGE as ``pip install --editable`` does."""
        about = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        self.install(about["name"], about["entry-points"])
        source = project / "src"
        sys.path.insert(0, str(source))
        importlib.invalidate_caches()
        packages = [path.name for path in source.iterdir()]
        self.modules += [
            str(path.relative_to(source).with_suffix("")).replace("/", ".").removesuffix(".__init__")
            for package in packages
            for path in (source / package).rglob("*.py")
        ]

    def forget(self) -> None:
        """Modules of this folder are imported anew by the next test."""
        for name in self.modules:
            sys.modules.pop(name, None)
