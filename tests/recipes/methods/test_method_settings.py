"""What the settings of every method keep to, and that the torch side agrees with them."""

import subprocess
import sys

import pytest

from whatchanged.recipes.methods import MethodSettings
from whatchanged.recipes.reader import load_recipe, recipe_names
from whatchanged.recipes.tables import find_method, method_names

TASK_NUMBERS = {
    "detection": 1,
    "mlm": 2,
    "mvcl": 3,
    "fda": 4,
    "caption": 5,
    "matching": 6,
    "retrieval": 7,
    "fgvc": 8,
}
"""They are part of the seed of a task's examples, so they never change."""


@pytest.mark.parametrize("name", method_names())
def test_a_methods_settings_bear_its_name(name):
    settings = find_method(name, "here")
    assert issubclass(settings, MethodSettings) and settings().name == name
    assert ":" in settings.implementation


def test_a_task_has_the_same_number_in_every_method():
    results = {}
    for name in recipe_names():
        for task, needs in load_recipe(name).tasks.items():
            results.setdefault(task, set()).add(needs.number)
    assert results == {task: {number} for task, number in TASK_NUMBERS.items()}


def test_settings_load_no_torch():
    program = (
        "import sys; from whatchanged.recipes.tables import find_method, method_names;"
        "[find_method(name, '') for name in method_names()];"
        "sys.exit(any(name in sys.modules for name in ('torch', 'numpy')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize(
    "name",
    [
        "pcl-tiny",
        "pcl-pixels",
        "clevr-see",
        "clevr-pcl",
        "clip4idc-tiny",
        "clip4idc-tiny-ft1",
        "clip4idc-tiny-ft2",
        "scorer-tiny",
    ],
)
def test_the_groups_of_a_stage_are_those_that_get_a_gradient(name):
    from whatchanged.training.build import make_method
    from whatchanged.vocabulary import Vocabulary

    recipe = load_recipe(name)
    method = make_method(recipe, Vocabulary.from_captions(["the cube"]))
    names = {parameter: name for name, parameter in method.named_parameters()}
    for stage in recipe.stages:
        unused = method.parameters_without_gradient(tuple(stage.tasks))
        trained = {
            group["name"]
            for group in method.parameter_groups()
            if not {names[parameter] for parameter in group["params"]} <= unused
        } - {"frozen"}
        others = [task for task in stage.tasks if not recipe.tasks[task].vision_only]
        declared = set(recipe.method.groups(others) if others else ())
        assert declared == trained - {"vision"}
        assert ("vision" in trained) == recipe.vision.learns
