"""The released computation, written plainly, and ours: the same losses, gradients and sentences."""

import pytest
import torch
from support import tiny_pcl
from torch.testing import assert_close

from whatchanged.training.methods.pcl_objectives import corrupt_patches

SCRIPT = "speed.plain_pcl"


@pytest.mark.parametrize("task", ["mlm", "mvcl", "fda", "caption"])
def test_the_loss_and_every_gradient_are_ours(bench, task):
    model = tiny_pcl.tiny("authors")
    plain = bench.PlainPCL(model)
    hidden = corrupt_patches(model.tokens(tiny_pcl.random_batch(model)), torch.Generator().manual_seed(2))
    losses, gradients = [], []
    for kind in ("ours", "plain"):
        model.zero_grad()
        batch = tiny_pcl.random_batch(model)  # with a generator at its start
        loss = sum(model.loss(task, batch).values()) if kind == "ours" else plain.loss(task, batch, hidden)
        loss.backward()
        losses.append(loss.detach())
        gradients.append({name: p.grad for name, p in model.named_parameters() if p.grad is not None})
    assert_close(losses[1], losses[0], atol=1e-5, rtol=1e-5)
    assert gradients[0].keys() == gradients[1].keys()
    for name, ours in gradients[0].items():
        assert_close(gradients[1][name], ours, atol=1e-5, rtol=1e-4, msg=name)


def test_the_sentences_are_ours(bench):
    model = tiny_pcl.stirred("authors")
    batch = tiny_pcl.random_batch(model, pairs=6)
    ours = tiny_pcl.greedy_ids(model, batch.before, batch.after)[:, 1:]
    assert torch.equal(bench.PlainPCL(model).decode(batch.before, batch.after), ours)
