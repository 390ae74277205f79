import json
import subprocess

import pytest
from support.pdf_files import write_pdf
from typer.testing import CliRunner

from whatchanged.cli import app

pytest.importorskip("pypdfium2")
RED, BLUE = [(36, 18, 36, 18, "1 0 0")], [(0, 0, 72, 72, "0 0 1")]
MOVED = [(96, 18, 36, 18, "1 0 0")]


@pytest.fixture
def files(tmp_path):
    old = write_pdf(tmp_path / "old.pdf", [RED, BLUE])
    new = write_pdf(tmp_path / "new.pdf", [MOVED, BLUE, [*BLUE, *MOVED]])
    return str(old), str(new)


def run(*arguments):
    return CliRunner().invoke(app, [*arguments, "--no-read-text", "--quiet", "--pdf-dpi", "72"])


def test_describe_tells_two_files_page_by_page(files):
    result = run("describe", *files, "--json", "--exit-code")
    assert result.exit_code == 1
    first, second, third = map(json.loads, result.stdout.splitlines())
    assert (first["verdict"], second["verdict"]) == ("changed", "identical")
    assert (first["page_before"], first["page_after"]) == (1, 1)
    assert third["file"] == "added" and third["page_after"] == 3 and "page_before" not in third
    told = run("describe", *files).stdout
    assert "page 1: " in told and "page 3: The page was added." in told


def test_describe_of_the_same_file_says_so(files):
    result = run("describe", files[0], files[0], "--exit-code")
    assert result.exit_code == 0 and "Nothing changed" in result.stdout


def test_a_broken_file_is_one_message(files, tmp_path):
    (tmp_path / "new.pdf").write_bytes(b"%PDF-1.7\n")
    done = subprocess.run(
        ["python", "-m", "whatchanged", "describe", *files], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "new.pdf: cannot read this PDF file" in done.stderr


def test_compare_takes_two_files(files, tmp_path):
    result = run("compare", *files, "-o", str(tmp_path / "out"), "--workers", "1")
    assert result.exit_code == 1
    lines = [json.loads(line) for line in (tmp_path / "out/results.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == ["new.pdf#1", "new.pdf#2", "new.pdf#3"]
    assert lines[2]["file"] == "added"
    assert all((tmp_path / "out").joinpath("index.html").read_text().count(name) for name in ("new.pdf#1",))


def test_compare_git_takes_pdf_files_of_revisions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    write_pdf(tmp_path / "a.pdf", [RED])
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    write_pdf(tmp_path / "a.pdf", [RED, BLUE])
    result = run("compare", "--git", "HEAD", "-o", "out", "--workers", "1")
    assert result.exit_code == 1, result.output
    lines = [json.loads(line) for line in (tmp_path / "out/results.jsonl").read_text().splitlines()]
    assert [(line["id"], line.get("file")) for line in lines] == [("a.pdf#1", None), ("a.pdf#2", "added")]
