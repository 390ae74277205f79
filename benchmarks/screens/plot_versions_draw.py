"""Draws plots of the screens world with the version of matplotlib that runs this program.

    python -m benchmarks.screens.plot_versions_draw OUT --seed 301 --plots 40 [--changed 3]

Plot i of a seed is the same document under every version. With ``--changed``, this many random plots really
and visibly change in one element; ``OUT.json`` lists the changes.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from PIL import Image

from whatchanged.synth.screens.edits import DrawnPicture, change_of, farthest
from whatchanged.synth.screens.plots.family import MatplotlibMaker
from whatchanged.synth.screens.plots.plot import Plot
from whatchanged.synth.screens.visible import visible
from whatchanged.worlds.screens.truth import ScreenChange, ScreenTruth, to_json

TRIES = 50
"""How often a change is drawn until one fits the plot and can be seen."""


def plot_of(maker: MatplotlibMaker, seed: int, number: int) -> Plot:
    """A plot of designs that nothing is trained on."""
    return maker.document(np.random.default_rng([seed, number]), "test")


def chosen(seed: int, plots: int, changed: int) -> list[int]:
    """Which plots really change."""
    rng = np.random.default_rng([seed, plots, changed])
    return sorted(int(number) for number in rng.choice(plots, changed, replace=False))


def changed_plot(
    maker: MatplotlibMaker, seed: int, number: int, plot: Plot
) -> tuple[DrawnPicture, ScreenChange]:
    """The plot with one visible change, and what changed."""
    rng = np.random.default_rng([seed, number, 1])
    usual = maker.draw(plot, maker.usual)
    for _ in range(TRIES):
        made = maker.changed(rng, plot)
        if made is None:
            continue
        other, edit = made
        after = maker.draw(other, maker.usual)
        change = change_of(edit, usual, after)
        if change is None:
            continue
        shift = farthest(usual, after)
        if visible(usual.pixels, after.pixels, change.kind, change.aspect, shift) == "yes":
            return after, change
    raise SystemExit(f"plot {number} of seed {seed}: no change fits it. Choose another seed.")


def main() -> None:
    """Draw the folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--plots", type=int, default=40)
    parser.add_argument("--changed", type=int, default=0)
    options = parser.parse_args()
    options.out.mkdir(parents=True)
    maker = MatplotlibMaker()
    changes = {}
    changing = chosen(options.seed, options.plots, options.changed)
    for number in range(options.plots):
        plot = plot_of(maker, options.seed, number)
        name = f"{plot.form}-{number:02d}.png"
        if number in changing:
            drawn, change = changed_plot(maker, options.seed, number, plot)
            size = (drawn.pixels.shape[1], drawn.pixels.shape[0])
            changes[name] = to_json(ScreenTruth((change,), (), size, size, maker.family))
        else:
            drawn = maker.draw(plot, maker.usual)
        Image.fromarray(drawn.pixels).save(options.out / name)
    options.out.with_suffix(".json").write_text(json.dumps(changes, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
