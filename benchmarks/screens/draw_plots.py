"""Draws a folder of plots like those of a test suite, with the version of matplotlib that runs this program.

    OLD/bin/python benchmarks/screens/draw_plots.py old
    NEW/bin/python benchmarks/screens/draw_plots.py new --changed
    whatchanged compare old new -o report

OLD and NEW are environments with two versions of matplotlib and nothing else. With ``--changed`` three plots
really change: a bar has another colour, a line another value, a legend another place.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot as plt

SEEDS = range(8)
Draw = Callable[[Any, np.random.Generator, int, bool], None]


def lines(axes: Any, values: np.random.Generator, seed: int, changed: bool) -> None:
    """Three lines; in plot 3 one value of the first may change."""
    steps = values.normal(size=(3, 24)).cumsum(axis=1)
    if changed and seed == 3:
        steps[0, 12] += 4
    for number, step in enumerate(steps):
        axes.plot(step, label=f"series {number + 1}", marker="o" if number == 0 else None)
    axes.set_xlabel("week")
    axes.legend(loc="upper left")


def bars(axes: Any, values: np.random.Generator, seed: int, changed: bool) -> None:
    """Six bars; in plot 5 the fourth may have another colour."""
    colors = ["tab:blue"] * 6
    if changed and seed == 5:
        colors[3] = "tab:orange"
    axes.bar(["north", "south", "east", "west", "centre", "coast"], values.integers(3, 30, 6), color=colors)
    axes.set_ylabel("orders")


def scatter(axes: Any, values: np.random.Generator, seed: int, changed: bool) -> None:
    """Two clouds of points; in plot 1 the legend may lie elsewhere."""
    for name, middle in (("before", 0), ("after", 2)):
        axes.scatter(*values.normal(middle, 1, (2, 60)), s=14, alpha=0.7, label=name)
    axes.legend(loc="lower right" if changed and seed == 1 else "upper left")
    axes.grid(True)


def histogram(axes: Any, values: np.random.Generator, seed: int, changed: bool) -> None:
    """A histogram."""
    axes.hist(values.gamma(2, 2, 800), bins=24, edgecolor="white")
    axes.set_xlabel("seconds")


def image(axes: Any, values: np.random.Generator, seed: int, changed: bool) -> None:
    """A matrix with its colour bar."""
    shown = axes.imshow(values.random((8, 12)), cmap="viridis")
    axes.figure.colorbar(shown, ax=axes)


def boxes(axes: Any, values: np.random.Generator, seed: int, changed: bool) -> None:
    """A box plot."""
    axes.boxplot(list(values.normal(values.normal(size=5)[:, None], 1, (5, 40))))
    axes.set_ylabel("error [%]")


PLOTS: dict[str, Draw] = {
    "lines": lines,
    "bars": bars,
    "scatter": scatter,
    "histogram": histogram,
    "image": image,
    "boxes": boxes,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--changed", action="store_true", help="three plots change")
    arguments = parser.parse_args()
    for index, (name, draw) in enumerate(PLOTS.items()):
        for seed in SEEDS:
            figure, axes = plt.subplots(figsize=(5.6, 3.6), dpi=100)
            draw(axes, np.random.default_rng([index, seed]), seed, arguments.changed)
            axes.set_title(f"{name.capitalize()} of sample {seed + 1}")
            figure.tight_layout()
            path = arguments.folder / name / f"{name}-{seed}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(path, metadata={"Software": None})
            plt.close(figure)
    print(f"{len(PLOTS) * len(SEEDS)} plots by matplotlib {matplotlib.__version__}: {arguments.folder}")


if __name__ == "__main__":
    main()
