"""The command that adds an extra to this install.

The extra comes from the origin of this install: a package index or another source.
"""

import shlex
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from whatchanged.json_values import read_json

NAME = "whatchanged"


def install_command(extra: str = "", again: bool = False) -> str:
    """Return the command that installs an extra, or the package itself if ``extra`` is empty.

    The command installs from a package index only if this install came from an index. again: reinstall
    packages that seem to be present.
    """
    options = "pip install --force-reinstall" if again else "pip install"
    extras = f"[{extra}]" if extra else ""
    came_from = _direct_url()
    if came_from is None:
        return f'{options} "{NAME}{extras}"'
    url = str(came_from.get("url", ""))
    folder = came_from.get("dir_info")
    if isinstance(folder, dict) and url.startswith("file:"):
        place = unquote(urlsplit(url).path)
        edited = "-e " if folder.get("editable") else ""
        return f"{options} {edited}{shlex.quote(place + extras)}"
    kept = came_from.get("vcs_info")
    if isinstance(kept, dict):
        url = f"{kept.get('vcs', 'git')}+{url}@{kept.get('commit_id', '')}"
    return f'{options} "{NAME}{extras} @ {url}"'


def _direct_url() -> dict[str, Any] | None:
    """Return the origin of this install as pip recorded it.

    If the package is not installed, the result is the source folder. If the install came from a package
    index, the result is None.
    """
    import importlib.metadata  # slow to import, and hardly ever needed

    try:
        text = importlib.metadata.distribution(NAME).read_text("direct_url.json")
        found = read_json(text) if text else None
    except (importlib.metadata.PackageNotFoundError, ValueError, OSError):
        sources = Path(__file__).parents[2]
        if not (sources / "pyproject.toml").is_file():
            return None
        return {"url": sources.as_uri(), "dir_info": {"editable": True}}
    return found if isinstance(found, dict) else None
