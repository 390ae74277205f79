"""Everything but a regular file that may lie in a folder under a picture's name."""

import os
import socket
from pathlib import Path

KINDS = ("pipe", "zero", "random", "tty", "socket", "dangling", "loop", "linked-pipe")
OUTSIDE = ("zero", "random", "tty")
"""Those that are links to somewhere else: in a folder that is looked through they are left out."""


def plant(path: Path, kind: str) -> Path:
    """Make one of them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    targets = {"zero": "/dev/zero", "random": "/dev/random", "tty": "/dev/ptmx", "dangling": "nothing"}
    if kind in targets:
        path.symlink_to(targets[kind])
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "linked-pipe":
        os.mkfifo(path.parent / "a-pipe")
        path.symlink_to("a-pipe")
    elif kind == "socket":
        here = os.getcwd()  # noqa: PTH109 - a socket's path is short
        os.chdir(path.parent)
        try:
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(path.name)
        finally:
            os.chdir(here)
    return path
