"""The parts of .ci/run, and who calls them; the version, which three files tell."""

import re
import subprocess
from pathlib import Path

import pytest

import whatchanged

ROOT = Path(__file__).parents[1]
SCRIPT = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
PARTS = re.search(r"^all=\(([a-z ]+)\)$", SCRIPT, re.MULTILINE)[1].split()


def test_every_part_is_a_function_and_explained_in_the_head():
    head, _, _ = SCRIPT.partition("\nset -e")
    explained = re.findall(r"^# ([a-z]+) {2,}\S", head, re.MULTILINE)
    assert explained == PARTS
    assert all(f"\n{part}() {{\n" in SCRIPT for part in PARTS)


def test_an_unknown_part_is_refused_with_the_names_of_all():
    done = subprocess.run(
        ["bash", str(ROOT / ".ci" / "run"), "nothing"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and done.stdout == ""
    assert "nothing" in done.stderr and all(part in done.stderr for part in PARTS)


def test_the_workflow_runs_every_part():
    yaml = pytest.importorskip("yaml")
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    job = yaml.safe_load(text)["jobs"]["part"]
    assert job["strategy"]["matrix"]["part"] == PARTS
    assert job["steps"][-1]["run"] == ".ci/run ${{ matrix.part }}"


def test_hooks_of_developers_are_pinned():
    yaml = pytest.importorskip("yaml")
    repos = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    hooks = [hook for repo in repos for hook in repo["hooks"]]
    assert [repo["repo"] for repo in repos] == ["local"]  # nothing is fetched but packages
    assert {hook["language"] for hook in hooks} == {"python", "system"}
    packages = [hook["additional_dependencies"] for hook in hooks if hook["language"] == "python"]
    assert all(re.fullmatch(r"[a-z-]+==[\d.]+", package) for (package,) in packages)


def test_the_version_is_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, date = re.search(r"^## (\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)$", changes, re.MULTILINE).groups()
    assert re.search(r"^version: (\S+)$", citation, re.MULTILINE)[1] == version == whatchanged.__version__
    assert re.search(r"^date-released: (\S+)$", citation, re.MULTILINE)[1] == date
