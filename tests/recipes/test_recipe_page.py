"""What ``docs/training.md`` says of recipes is so."""

import re
from dataclasses import MISSING, fields
from pathlib import Path

import pytest

from whatchanged.errors import RecipeError
from whatchanged.recipes.reader import load_recipe, parse_recipe
from whatchanged.recipes.schema import StageConfig
from whatchanged.recipes.tables import DATA, VISION

PAGE = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")
ROWS = {line.split("|")[1].strip(): line for line in PAGE.splitlines() if line.startswith("|")}


def words(text):
    """The names in back quotes."""
    return set(re.findall(r"`([a-z_0-9]+)`", text))


def test_the_recipe_of_the_page_loads():
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert parse_recipe(text, "page").name == "mine"


@pytest.mark.parametrize("kind", [*VISION.kinds(), *DATA.kinds()])
def test_the_keys_of_each_kind_are_listed(kind):
    tag, *keys = (entry.name for entry in fields(kind))
    row = ROWS[f"`{getattr(kind(), tag)}`"]
    listed = words(row.split("|")[3])
    assert listed == set(keys)


def test_the_keys_of_a_stage_are_listed():
    table = PAGE[PAGE.index("| keys of a stage") :].partition("\n\n")[0].splitlines()[2:]
    listed = [name for row in table for name in re.findall(r"`([a-z_0-9]+)`", row.split("|")[1])]
    assert sorted(listed) == sorted(entry.name for entry in fields(StageConfig))
    needed = {
        entry.name for entry in fields(StageConfig) if entry.default is entry.default_factory is MISSING
    }
    assert words(table[0].split("|")[1]) == needed and len(needed) == 5


@pytest.mark.parametrize(
    "override", ["stage.caption.learning_rate=1", "vision.patch=16", "stage.pretrain.patience=3"]
)
def test_the_messages_of_the_page_are_the_programs(override):
    with pytest.raises(RecipeError) as raised:
        load_recipe("pcl-tiny", [override])
    assert str(raised.value) in " ".join(PAGE.split())


COMMANDS = re.findall(r"whatchanged train (\S+) --data twin (.*)-o", PAGE)


def test_the_page_has_commands():
    assert len(COMMANDS) >= 3


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_of_the_page_name_recipes_and_keys_that_there_are(command):
    name, options = command
    if name != "mine.toml":
        load_recipe(name, re.findall(r"--set (\S+)", options))
