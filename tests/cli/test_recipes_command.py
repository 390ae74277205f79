import subprocess
import sys
import tomllib

from whatchanged.recipes.overview import FEATURES, GROUPS, PICTURES
from whatchanged.recipes.reader import recipe_names, recipe_text


def test_all_recipes_and_methods_are_listed(whatchanged, site):
    site.install("toy-method", {"whatchanged.methods": {"toy": "no_such_module:METHOD"}})
    code, out, _ = whatchanged("recipes")
    assert code == 0
    listed = [line.strip() for line in out.splitlines() if line[:1].strip()]
    assert [line for line in listed if line in GROUPS] == list(GROUPS)
    assert sorted(line for line in listed if line in recipe_names()) == list(recipe_names())
    assert listed.index(PICTURES) < listed.index("pcl-pixels") < listed.index(FEATURES)
    assert out.count("Time: ") == len(recipe_names())
    rows = [line.split() for line in out.splitlines()]
    assert ["pcl", "whatchanged"] in rows and ["toy", "toy-method", "1.5"] in rows


def test_a_recipe_is_printed_as_it_stands_or_resolved(whatchanged):
    _, text, _ = whatchanged("recipes", "pcl-tiny")
    assert text.startswith("# PCL small enough for tests")
    _, resolved, _ = whatchanged("recipes", "pcl-tiny", "--set", "method.width=64")
    table = tomllib.loads(resolved)
    assert table["method"]["width"] == 64 and table["method"]["fda_temperature"] == 1.0


def test_a_strangers_recipe_does_not_act_on_the_terminal(whatchanged, tmp_path):
    path = tmp_path / "mine.toml"
    text = recipe_text("pcl-tiny")
    path.write_text(f"# \u202e \u009b\n{text}", encoding="utf-8")
    code, out, _ = whatchanged("recipes", path)
    assert (code, out) == (0, f"# \\u202e \\x9b\n{text}")


def test_an_unknown_recipe_is_refused(whatchanged):
    code, out, err = whatchanged("recipes", "pcl-tiy")
    assert (code, out) == (2, "") and "Did you mean pcl-tiny" in err


def test_reading_recipes_loads_no_torch():
    program = (
        "import sys; from whatchanged.recipes.reader import load_recipe; load_recipe('pcl-tiny');"
        "import whatchanged.cli.recipes, whatchanged.cli.train, whatchanged.cli.export;"
        "sys.exit(any(name in sys.modules for name in ('torch', 'numpy', 'onnxruntime')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
