"""The plugin in a pytest of its own: messages as matplotlib and pytest-mpl write them, and both for real."""

import textwrap

import numpy as np
import pytest
from PIL import Image

pytest_plugins = ["pytester"]

MATPLOTLIB = """
    def test_it():
        raise AssertionError("images not close (RMS 12.345):\\n\\tafter.png\\n\\tbefore.png\\n\\tdiff.png ")
"""
PYTEST_MPL = """
    import pytest

    def test_it():
        pytest.fail("Error: Image files did not match.\\n  RMS Value: 12\\n"
            "  Expected:  \\n    before.png\\n  Actual:    \\n    after.png\\n"
            "  Difference:\\n    diff.png\\n  Tolerance: \\n    2", pytrace=False)
"""
PYTEST_MPL_SIZES = """
    def test_it():
        raise AssertionError("Error: Image dimensions did not match.\\n"
            "  Expected shape: (32, 48)\\n    before.png\\n  Actual shape: (32, 48)\\n    after.png")
"""


@pytest.fixture
def folder(pytester):
    """Where a pytest runs, with two pictures: the second has a white square at its lower right."""
    before = np.full((120, 160, 3), 100, np.uint8)
    after = before.copy()
    after[80:110, 110:150] = 255
    for name, array in (("before.png", before), ("after.png", after)):
        Image.fromarray(array).save(pytester.path / name)
    return pytester


def run(folder, test, *arguments):
    (folder.path / "test_it.py").write_text(textwrap.dedent(test))
    plugins = ("-p", "no:cacheprovider")  # ours is found by its entry point
    # Not in this process, which has numpy loaded and cannot load it again.
    return folder.runpytest_subprocess(*plugins, *arguments)


@pytest.mark.parametrize("test", [MATPLOTLIB, PYTEST_MPL, PYTEST_MPL_SIZES])
def test_a_failed_comparison_is_told_in_words(folder, test):
    result = run(folder, test, "--whatchanged")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*- what changed -*", "*lower right*", "before: before.png (160x120)", "after:  after.png (160x120)"]
    )


def test_without_the_option_nothing_is_added(folder):
    result = run(folder, MATPLOTLIB)
    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("*what changed*")


def test_other_failures_and_passing_tests_are_left_alone(folder):
    result = run(folder, "def test_it():\n    assert 1 == 2\n\ndef test_that():\n    pass\n", "--whatchanged")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.no_fnmatch_line("*what changed*")


def test_a_picture_that_is_gone(folder):
    (folder.path / "after.png").unlink()
    result = run(folder, MATPLOTLIB, "--whatchanged")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Nothing was measured: *after.png*"])


def test_loading_the_plugin_imports_nothing_heavy(folder):
    program = (
        "import sys, whatchanged.pytest_plugin;"
        "sys.exit(any(name in sys.modules for name in ('numpy', 'torch', 'onnxruntime', 'PIL')))"
    )
    assert folder.runpython_c(program).ret == 0


FIGURE = """
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    {imports}

    def draw(height, size=(4, 3)):
        figure, axes = plt.subplots(figsize=size)
        axes.bar([1, 2, 3], [2, 3, height])
        return figure
"""
DECORATED = (
    FIGURE.format(imports="from matplotlib.testing.decorators import image_comparison")
    + """
    @image_comparison(["bars.png"], style="default")
    def test_it():
        draw({height}, {size})
"""
)
MPL = (
    FIGURE.format(imports="import pytest")
    + """
    @pytest.mark.mpl_image_compare
    def test_it():
        return draw({height}, {size})
"""
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("height", "size", "told"),
    [(1, (4, 3), "*at the *right*"), (3, (5, 3), "after: *(500x300)")],
    ids=["bar", "size"],
)
def test_matplotlibs_own_decorator(folder, height, size, told):
    pytest.importorskip("matplotlib")
    baseline = folder.path / "baseline_images" / "test_it"
    baseline.mkdir(parents=True)
    made = folder.path / "result_images" / "test_it" / "bars.png"
    quiet = ("-W", "ignore")
    run(folder, DECORATED.format(height=3, size=(4, 3)), *quiet)  # fails, for want of a baseline
    made.rename(baseline / "bars.png")
    run(folder, DECORATED.format(height=3, size=(4, 3)), *quiet).assert_outcomes(passed=1)
    result = run(folder, DECORATED.format(height=height, size=size), "--whatchanged", *quiet)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*- what changed -*", "before: *bars*.png (400x300)"])
    result.stdout.fnmatch_lines([told])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("height", "size", "told"),
    [(1, (4, 3), "*at the *right*"), (3, (5, 3), "after: *(500x300)")],
    ids=["bar", "size"],
)
def test_pytest_mpl(folder, height, size, told):
    pytest.importorskip("pytest_mpl")

    def mpl(height, size, *arguments):
        (folder.path / "test_it.py").write_text(textwrap.dedent(MPL.format(height=height, size=size)))
        plugin = ("-p", "no:cacheprovider", "-W", "ignore")
        return folder.runpytest_subprocess(*plugin, *arguments)

    mpl(3, (4, 3), "--mpl-generate-path=baseline")
    mpl(3, (4, 3), "--mpl").assert_outcomes(passed=1)
    result = mpl(height, size, "--mpl", "--whatchanged")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*- what changed -*", "before: *.png (400x300)"])
    result.stdout.fnmatch_lines([told])
