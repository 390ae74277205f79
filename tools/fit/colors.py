"""Puts the ranges of a model's colours into its card, from drawn pools, as ``export --familiar`` does.

    whatchanged synth clevr-pool near --scenes 700 --seed 1901
    whatchanged synth clevr-pool mixed --scenes 700 --seed 1902 --views mixed
    python tools/fit colors src/whatchanged/models/clevr-pcl near mixed

This is for a model that was exported by a version that did not store colours. Its graphs and weights stay
the same.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from whatchanged.captioner.bundle import open_bundle, write_bundle
from whatchanged.training.export.in_distribution import fit_colors
from whatchanged.training.objects.pool import open_shards


def main() -> None:
    """Rewrite ``bundle.json`` and the line of README.md that tells how unfamiliar pictures are recognised."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("pools", type=Path, nargs="+")
    options = parser.parse_args()
    card = open_bundle(options.model.absolute()).card
    known = card.in_distribution
    if known is None:
        parser.error(f"{options.model}: this model has no distance. Export it with --familiar.")
    ranges, of_colours = fit_colors([shard for pool in options.pools for shard in open_shards(pool)])
    how = f"{known.how.partition('; colours')[0]}; {of_colours}"
    readme = options.model / "README.md"
    readme.write_text(readme.read_text(encoding="utf-8").replace(known.how, how), encoding="utf-8")
    write_bundle(options.model, replace(card, in_distribution=replace(known, how=how, colors=ranges)))
    for name, (low, high) in ranges.items():
        print(f"{name:12} {low:9.3f} {high:9.3f}")


if __name__ == "__main__":
    main()
