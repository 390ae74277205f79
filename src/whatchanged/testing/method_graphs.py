"""Exports a method as graphs, and checks that they predict the same as torch."""

import tempfile
from dataclasses import replace
from pathlib import Path

from whatchanged.errors import BundleError
from whatchanged.plugins import fault
from whatchanged.testing.duties import duty
from whatchanged.testing.method_case import MethodCase, plain_pairs, plain_vision, shaken
from whatchanged.testing.require import require
from whatchanged.training.export import graphs

GRAPHS_OFF = 1e-3
"""The largest allowed difference between a graph's log-probability of a caption and torch's."""


@duty("CaptionWriter.encode", "CaptionWriter.first_cache", "CaptionWriter.step")
def check_graphs(case: MethodCase) -> None:
    """``encode``, ``no_change``, ``first_cache`` and ``step`` become graphs that predict the same as torch.

    They are traced on two pairs, and compared on ten.
    """
    case = replace(case, vision=plain_vision, pairs=plain_pairs)
    method = shaken(case.build())
    batch = case.batch(method)
    before, after = batch.before.numpy(), batch.after.numpy()
    with tempfile.TemporaryDirectory() as folder:
        try:
            graphs.write_graphs(method, (before[:2], after[:2]), Path(folder))
            off = graphs.compare(method, Path(folder), before, after)
        except BundleError as error:
            raise AssertionError(f"the graphs say other words than torch: {error}") from error
        except Exception as error:
            raise AssertionError(f"the graphs do not run: {fault(error)}") from error
    require(off < GRAPHS_OFF, f"a graph's log-probability of a caption is {off:.2g} off torch's")
