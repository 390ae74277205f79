"""The same model of regions with another of its networks first: a run of fewer networks begins from these.

    python tools/fit/first_network.py MODEL NUMBER OUT

MODEL: a name or a folder. NUMBER counts from 0. What the model says is the mean of all its networks, so its
graph and its card stay true; OUT is a folder that is written anew.
"""

import argparse
import shutil
from pathlib import Path

from torch import Tensor

from whatchanged.captioner.bundle import WEIGHTS, open_bundle, write_bundle
from whatchanged.errors import RecipeError
from whatchanged.training.weights.bundle_weights import pack_weights, read_weights


def reordered(tensors: dict[str, Tensor], number: int) -> dict[str, Tensor]:
    """Tensors by name, with network ``number`` and the first one exchanged.

    Raises RecipeError where there is no such network.
    """
    ends = (f"networks.{number}.", "networks.0.")
    if not any(name.startswith(ends[0]) for name in tensors):
        raise RecipeError(f"NUMBER: got {number}; the model has no such network.")
    others = {ends[0]: ends[1], ends[1]: ends[0]}
    results = {}
    for name, tensor in tensors.items():
        own = next((end for end in ends if name.startswith(end)), "")
        results[others[own] + name.removeprefix(own) if own else name] = tensor
    return results


def main(arguments: list[str] | None = None) -> None:
    """Writes the folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("number", type=int)
    parser.add_argument("out", type=Path)
    options = parser.parse_args(arguments)
    bundle = open_bundle(options.model)
    weights = pack_weights(reordered(read_weights(bundle), options.number))
    shutil.copytree(bundle.folder, options.out)
    (options.out / WEIGHTS).write_bytes(weights)
    write_bundle(options.out, bundle.card)


if __name__ == "__main__":
    main()
