"""What a wheel lacks, and what it holds too much, is told."""

import importlib.util
import io
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "check_package.py"
LICENCE = "whatchanged-1.dist-info/licenses/LICENSE"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_package", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wheel_with(folder: Path, names: set[str]) -> Path:
    path = folder / "whatchanged-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    return path


def source_with(folder: Path, names: list[str]) -> Path:
    path = folder / "whatchanged-1.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(f"whatchanged-1/{name}"), io.BytesIO())
    return path


def test_a_whole_wheel_has_no_fault(tool: ModuleType, tmp_path: Path) -> None:
    whole = tool.wanted_in_wheel() | {LICENCE}
    assert "whatchanged/recipes/pcl-tiny.toml" in whole
    assert "whatchanged/models/clevr-pcl/encoder.onnx" in whole
    assert "whatchanged/page/page.html" in whole
    assert tool.check_wheel(wheel_with(tmp_path, whole)) == []


def test_what_lacks_and_what_is_too_much_is_named(tool: ModuleType, tmp_path: Path) -> None:
    names = tool.wanted_in_wheel() - {"whatchanged/py.typed"} | {"tests/test_files.py"}
    assert tool.check_wheel(wheel_with(tmp_path, names)) == [
        "whatchanged/py.typed is missing",
        "tests/test_files.py does not belong there",
        "the licence is missing",
    ]


def test_a_wheel_above_the_limit_is_told(tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "WHEEL_LIMIT", 10)
    [fault] = tool.check_wheel(wheel_with(tmp_path, tool.wanted_in_wheel() | {LICENCE}))
    assert fault.endswith("at most 10 are wanted")


def test_a_source_archive_needs_what_it_is_built_from(tool: ModuleType, tmp_path: Path) -> None:
    assert tool.check_source(source_with(tmp_path, list(tool.SOURCE_NEEDS))) == []
    short = [*tool.SOURCE_NEEDS[1:], "src/__pycache__/x.pyc"]
    assert tool.check_source(source_with(tmp_path, short)) == [
        "pyproject.toml is missing",
        "src/__pycache__/x.pyc does not belong there",
    ]


def test_two_builds_in_a_folder_are_refused(tool: ModuleType, tmp_path: Path) -> None:
    source_with(tmp_path, [])
    for version in "12":
        (tmp_path / f"whatchanged-{version}-py3-none-any.whl").touch()
    with pytest.raises(SystemExit, match="more than one build"):
        tool.main(tmp_path)
