"""The released computation, written plainly, and ours: the same losses, gradients and sentences."""

import pytest
import torch
from support import tiny_pcl
from support.same_gradients import assert_same_gradients

from whatchanged.training.methods.pcl_objectives import corrupt_patches

SCRIPT = "speed.plain_pcl"


@pytest.mark.parametrize("task", ["mlm", "mvcl", "fda", "caption"])
def test_the_loss_and_every_gradient_are_ours(bench, task):
    model = tiny_pcl.tiny("authors")
    plain = bench.PlainPCL(model)
    hidden = corrupt_patches(model.tokens(tiny_pcl.random_batch(model)), torch.Generator().manual_seed(2))
    batch = lambda: tiny_pcl.random_batch(model)  # noqa: E731 - with a generator at its start
    ours, released = (
        lambda: sum(model.loss(task, batch()).values()),
        lambda: plain.loss(task, batch(), hidden),
    )
    assert_same_gradients(model, ours, released)


def test_the_sentences_are_ours(bench):
    model = tiny_pcl.stirred("authors")
    batch = tiny_pcl.random_batch(model, pairs=6)
    ours = tiny_pcl.greedy_ids(model, batch.before, batch.after)[:, 1:]
    assert torch.equal(bench.PlainPCL(model).decode(batch.before, batch.after), ours)
