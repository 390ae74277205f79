"""What lies in a folder, to be compared before and after something that must leave it alone."""

from pathlib import Path


def state(folder: Path) -> dict[str, tuple[str, int, object]]:
    """Relative path -> (kind, mode, content) of everything below a folder; links are told, not followed."""
    results = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            what = ("link", 0, str(path.readlink()))
        elif path.is_dir():
            what = ("folder", path.stat().st_mode, None)
        elif path.is_file():
            what = ("file", path.stat().st_mode, path.read_bytes())
        else:
            what = ("other", path.stat().st_mode, None)
        results[path.relative_to(folder).as_posix()] = what
    return results
