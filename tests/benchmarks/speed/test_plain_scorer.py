"""The released computation, written plainly, and ours: the same loss, gradients and sentences."""

import torch
from support import tiny_scorer
from support.same_gradients import assert_same_gradients
from support.tiny_pcl import greedy_ids

SCRIPT = "speed.plain_scorer"


def test_the_loss_and_every_gradient_are_ours(bench):
    model = tiny_scorer.tiny("authors")
    batch = tiny_scorer.random_batch(model, pairs=6)
    plain = bench.PlainSCORER(model)
    ours, released = lambda: sum(model.loss("caption", batch).values()), lambda: plain.loss("caption", batch)
    assert_same_gradients(model, ours, released)


def test_the_released_form_computes_gradients_of_what_never_moves(bench):
    model = tiny_scorer.tiny("authors")
    plain = bench.PlainSCORER(model)
    plain.loss("caption", tiny_scorer.random_batch(model)).backward()
    assert all(tensor.grad is not None for tensor in plain.reasoning.values())


def test_the_sentences_are_ours(bench):
    model = tiny_scorer.stirred("authors")
    batch = tiny_scorer.random_batch(model, pairs=6)
    ours = greedy_ids(model, batch.before, batch.after)[:, 1:]
    assert len(ours.unique(dim=0)) > 1
    assert torch.equal(bench.PlainSCORER(model).decode(batch.before, batch.after), ours)
