"""The page of the commands."""

import pytest
from site_pages.commands import commands_page

from whatchanged import cli


@pytest.fixture(scope="module")
def page():
    return commands_page()


def test_every_command_has_its_section_with_options_and_examples(page):
    sections = {part.split("\n")[0]: part for part in page.split("\n## ")[1:]}
    assert tuple(sections) == cli.COMMANDS
    for name, section in sections.items():
        assert f"$ whatchanged {name}" in section and "| option | |" in section
        assert f"\nwhatchanged {name}" in section.partition('title="Examples"')[2]


def test_an_option_is_told_with_its_help_its_default_and_its_range(page):
    section = page.partition("\n## describe\n")[2].partition("\n## ")[0]
    assert (
        "| `--exit-code` | Exit with 1 if something changed or may have changed, as git diff does. |"
        in section
    )
    (beams,) = (line for line in section.splitlines() if "--beams" in line)
    assert "Hypotheses of beam search; 1 is greedy." in beams and "default: 1" in beams and "64" in beams


def test_what_a_help_says_beyond_its_options_is_shown_too(page):
    section = page.partition("\n## synth\n")[2].partition("\n## ")[0]
    assert "What can be drawn" in section and "clevr-pool" in section and "views=jittered" in section
