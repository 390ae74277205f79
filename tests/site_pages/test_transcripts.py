"""Commands of a page, run and compared with the output that it shows."""

import shutil
from pathlib import Path

import pytest
from site_pages.transcripts import comparable, differences, rewritten, steps

ROOT = Path(__file__).parents[2]
START = ROOT / "docs" / "start"
PAGE = """
# A page

```console
$ echo one; echo two >&2
one
two
$ echo a \\
    b
a b
$ true
```

```sh
rm -rf never-run
```

```pycon
>>> 1 + 1
2

```
"""


def test_commands_and_what_the_page_shows_below_them():
    results = [(step.command, step.output) for step in steps(PAGE)]
    assert results == [("echo one; echo two >&2", "one\ntwo"), ("echo a \\\n    b", "a b"), ("true", "")]


def test_a_block_that_begins_with_output_is_an_error():
    with pytest.raises(ValueError, match="begins with no command: 'one"):
        list(steps("```console\none\n$ echo one\n```\n"))


def test_a_page_that_is_right_and_its_faults(tmp_path):
    assert differences(PAGE, tmp_path) == []
    (found,) = differences(PAGE.replace("\ntwo\n", "\ntree\n"), tmp_path)
    assert found == "$ echo one; echo two >&2\n--- the page shows\none\ntree\n--- it prints\none\ntwo"
    (found,) = differences(PAGE.replace("\n2\n", "\n3\n"), tmp_path)
    assert "Expected:\n    3" in found and "Got:\n    2" in found


def test_commands_run_one_after_the_other_in_the_folder(tmp_path):
    page = "```console\n$ echo x > made\n```\nand\n```console\n$ cat made\nx\n$ exit 3\n```\n"
    assert differences(page, tmp_path) == []
    assert (tmp_path / "made").read_text() == "x\n"


def test_output_is_written_anew_and_the_rest_stays(tmp_path):
    stale = PAGE.replace("\ntwo\n", "\nthree\nfour\n").replace("\na b\n", "\n").replace("\n2\n", "\n3\n")
    assert rewritten(stale, tmp_path) == PAGE


@pytest.mark.parametrize(
    ("shown", "printed", "numbers", "same"),
    [
        ('{"seconds": 3.5}', '{"seconds": 41.07}', True, True),
        ("done in 3.1 s", "done in 4 s", True, True),
        ("1.6 %", "1.7 %", True, False),
        ("a  1.6 (1-2)", "a 17.25 (-3-4)", False, True),
        ("a 1", "b 1", False, False),
        ("-----", "---", False, True),
    ],
)
def test_what_may_differ(shown, printed, numbers, same):
    assert (comparable(shown, numbers) == comparable(printed, numbers)) == same


@pytest.mark.slow
def test_the_ten_minutes_are_as_shown(tmp_path, command_line):
    folder = shutil.copytree(START / "pictures", tmp_path / "shop")
    page = (START / "ten-minutes.md").read_text(encoding="utf-8")
    assert len(list(steps(page))) == 14
    assert "\n\n".join(differences(page, folder)) == ""
    assert (folder / "where.png").stat().st_size > 0 and (folder / "report" / "junit.xml").is_file()


@pytest.mark.slow
def test_the_ten_changes_are_as_shown(tmp_path, command_line):
    pytest.importorskip("pypdfium2", reason="needs the extra pdf")
    folder = shutil.copytree(START / "ten", tmp_path / "ten")
    page = (START / "ten-changes.md").read_text(encoding="utf-8")
    assert len(list(steps(page))) == len(list((folder / "old").iterdir())) == 10
    assert "\n\n".join(differences(page, folder)) == ""


@pytest.mark.slow
def test_the_hour_is_as_shown(tmp_path, command_line):
    pytest.importorskip("torch")
    folder = tmp_path / "hour"
    folder.mkdir()
    page = (START / "hour.md").read_text(encoding="utf-8")
    assert len(list(steps(page))) == 9
    assert "\n\n".join(differences(page, folder)) == ""
    assert (folder / "page.html").is_file() and (folder / "model" / "bundle.json").is_file()


@pytest.mark.slow
def test_the_lines_of_many_devices_and_machines_are_as_shown(tmp_path, command_line, ray):
    pytest.importorskip("torch")
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    assert len(list(steps(page))) == 5
    assert "\n\n".join(differences(page, tmp_path)) == ""


@pytest.mark.slow
def test_the_way_from_published_features_to_a_table_is_as_shown(tmp_path, command_line):
    pytest.importorskip("torch")
    page = (ROOT / "docs" / "from-download-to-table.md").read_text(encoding="utf-8")
    assert len(list(steps(page))) == 13
    assert "\n\n".join(differences(page, tmp_path)) == ""
    assert not list((tmp_path / "data").glob("*/*.png"))
    assert (tmp_path / "model" / "bundle.json").is_file()
