"""Docstrings as Markdown."""

import pytest

pytest.importorskip("griffe", reason="needs the extra docs")

from site_pages.docstrings import Described, as_markdown, with_table


def test_an_example_becomes_a_block_of_code():
    text = "What it does.\n\nBy ids:\n>>> f(1)\n2\n>>> g()[0]\n'a'"
    wanted = "What it does.\n\nBy ids:\n\n```pycon\n>>> f(1)\n2\n>>> g()[0]\n'a'\n```"
    assert as_markdown(text) == wanted


def test_an_aligned_list_becomes_a_table_with_its_continued_lines():
    text = "Head.\n\nname   what it is,\n       and more\nother  a | b"
    wanted = "Head.\n\n| | |\n|---|---|\n| `name` | what it is, and more |\n| `other` | a \\| b |"
    assert as_markdown(text) == wanted


@pytest.mark.parametrize("text", ["A sentence.  Another one\nthat goes on.", "    x  = y\n    z  = 1", "one"])
def test_prose_and_code_stay(text):
    assert as_markdown(text) == text


def test_names_get_the_backticks_of_markdown():
    assert as_markdown("Takes ``a`` and ``b``.") == "Takes `a` and `b`."


def test_attributes_that_a_class_lists_are_not_shown_twice(tmp_path):
    import griffe
    from site_pages import docstrings

    text = '"""M."""\nclass A:\n    """An A.\n\n    x    the first\n    y    the second\n    """\n'
    text += '    x: int = 0\n    y: int = 0\n    """Told here, too."""\n    z: int = 0\n'
    text += '    def f(self):\n        """F."""\n'
    (tmp_path / "shown.py").write_text(text)
    extensions = griffe.load_extensions(docstrings.PlainDocstrings)
    found = griffe.load("shown", search_paths=[str(tmp_path)], extensions=extensions)["A"]
    assert list(found.members) == ["y", "z", "f"]
    assert "| `x` | the first |" in found.docstring.value


KNOWN = [
    Described("path", "str | Path", ""),
    Described("split", "str", "'all'"),
    Described("quiet", "bool", "False"),
    Described("rows", "int", "1"),
    Described("columns", "int", "1"),
]


def test_what_is_said_of_parameters_becomes_one_table():
    text = "Reads a: folder.\n\nIt is quick. path: where it lies,\nor its URL. split: train or a|b.\n"
    text += "rows, columns: of the grid (no more). Raises OSError: where there is none.\n\nMore."
    assert with_table(text, "parameter", KNOWN) == "\n".join(
        [
            "Reads a: folder.",
            "",
            "It is quick.",
            "",
            "| parameter | type | default | |",
            "|---|---|---|---|",
            "| `path` | `str | Path` |  | where it lies, or its URL. |",
            "| `split` | `str` | `'all'` | train or a\\|b. |",
            "| `quiet` | `bool` | `False` |  |",
            "| `rows` | `int` | `1` | of the grid (no more). |",
            "| `columns` | `int` | `1` | of the grid (no more). |",
            "",
            "Raises OSError: where there is none.",
            "",
            "More.",
        ]
    )


def test_an_aligned_list_of_parameters_joins_the_table():
    text = "Reads.\n\nsplit: which.\n\nquiet  says nothing,\n       at all\n\nother  stays"
    table = with_table(text, "parameter", KNOWN)
    assert (
        table.count("| parameter |") == 1 and "| `quiet` | `bool` | `False` | says nothing, at all |" in table
    )
    assert table.endswith("other  stays")


@pytest.mark.parametrize(
    "text", ["Reads path, split: no.", "A word: split is used.", "    split: code.", "split:\n\n>>> split: 1"]
)
def test_what_describes_no_parameter_stays(text):
    assert with_table(text, "parameter", KNOWN) == text
    assert with_table("split: which.", "parameter", []) == "split: which."


def test_functions_and_classes_get_their_tables(tmp_path):
    import griffe
    from site_pages import docstrings

    text = '"""M."""\ndef f(self, a: int = 2, *, b: str):\n    """F.\n\n    a: the ``first``.\n    """\n'
    text += 'class A:\n    """An A.\n\n    x: the first. y: the second.\n    """\n'
    text += '    x: int = 0\n    y: str\n    z: int = 0\n    """Of its own."""\n'
    (tmp_path / "told.py").write_text(text)
    extensions = griffe.load_extensions(docstrings.PlainDocstrings)
    found = griffe.load("told", search_paths=[str(tmp_path)], extensions=extensions)
    assert "| `a` | `int` | `2` | the `first`. |\n| `b` | `str` |  |  |" in found["f"].docstring.value
    assert (
        "| `x` | `int` | `0` | the first. |\n| `y` | `str` |  | the second. |" in found["A"].docstring.value
    )
    assert "`z`" not in found["A"].docstring.value and list(found["A"].members) == ["z"]
