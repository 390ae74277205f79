"""Checks the built files before they are published: their content and their size.

python -m build --outdir dist . && python tools/check_package.py dist
"""

import argparse
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

WHEEL_LIMIT = 40 * 2**20  # bytes, mostly of the shipped models and their weights
SOURCE = Path(__file__).parents[1] / "src"
SOURCE_NEEDS = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CITATION.cff",
    "src/whatchanged/__init__.py",
)


def wanted_in_wheel() -> set[str]:
    """Every file of the package: modules, recipes, models, page templates, the marker of types."""
    files = (path for path in (SOURCE / "whatchanged").rglob("*") if path.is_file())
    return {path.relative_to(SOURCE).as_posix() for path in files if "__pycache__" not in path.parts}


def check_wheel(wheel: Path) -> list[str]:
    """The faults of a wheel, in words; an empty list if it has none."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    of_package = {name for name in names if ".dist-info/" not in name}
    faults = [f"{name} is missing" for name in sorted(wanted_in_wheel() - of_package)]
    faults += [f"{name} does not belong there" for name in sorted(of_package - wanted_in_wheel())]
    if not any(name.endswith("/licenses/LICENSE") for name in names):
        faults.append("the licence is missing")
    if wheel.stat().st_size > WHEEL_LIMIT:
        faults.append(f"it has {wheel.stat().st_size:,} bytes; at most {WHEEL_LIMIT:,} are wanted")
    return faults


def check_source(archive_file: Path) -> list[str]:
    """The faults of a source archive, in words; an empty list if it has none."""
    with tarfile.open(archive_file) as archive:
        names = {PurePosixPath(name).relative_to(PurePosixPath(name).parts[0]) for name in archive.getnames()}
    faults = [f"{name} is missing" for name in SOURCE_NEEDS if PurePosixPath(name) not in names]
    return faults + [f"{name} does not belong there" for name in sorted(names) if "__pycache__" in name.parts]


def main(folder: Path) -> int:
    """Check the only wheel and the only source archive of a folder; returns the exit code."""
    wheel, *other_wheels = sorted(folder.glob("*.whl"))
    source, *other_sources = sorted(folder.glob("*.tar.gz"))
    if other_wheels or other_sources:
        raise SystemExit(f"{folder} holds more than one build: empty it first")
    faults = [f"{wheel.name}: {fault}" for fault in check_wheel(wheel)]
    faults += [f"{source.name}: {fault}" for fault in check_source(source)]
    for built in (wheel, source):
        print(f"{built.name}: {built.stat().st_size / 2**20:.1f} MiB")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dist", type=Path, help="folder that holds the wheel and the source archive")
    sys.exit(main(parser.parse_args().dist))
