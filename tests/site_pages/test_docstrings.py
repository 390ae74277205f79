"""Docstrings as Markdown."""

import pytest

pytest.importorskip("griffe", reason="needs the extra docs")

from site_pages.docstrings import as_markdown


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
