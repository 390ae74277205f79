"""The released computation, written plainly, and ours: the same losses, gradients, moves and sentences."""

from dataclasses import replace

import pytest
import torch
from support import tiny_clip4idc
from support.same_gradients import assert_same_gradients
from torch.testing import assert_close

from whatchanged.training.bert_adam import BertAdam

SCRIPT = "speed.plain_clip4idc"


@pytest.mark.parametrize(("task", "changed"), [("retrieval", None), ("caption", (1, 0, 1, 1))])
def test_the_loss_and_every_gradient_are_ours(bench, task, changed):
    model = tiny_clip4idc.tiny(joint_width=16)
    batch = tiny_clip4idc.random_batch(model, changed=changed)
    short = replace(batch, ids=batch.ids[:, :10])
    plain = bench.PlainCLIP4IDC(model)
    ours, released = lambda: sum(model.loss(task, short).values()), lambda: plain.loss(task, short)
    assert_same_gradients(model, ours, released)


def test_the_sentences_are_ours(bench):
    model = tiny_clip4idc.tiny(shake=0.5, joint_width=16)
    before, after = tiny_clip4idc.pictures(4)
    ours = tiny_clip4idc.greedy_ids(model, before, after, steps=model.max_length - 1)
    assert len(ours.unique(dim=0)) > 1
    assert torch.equal(bench.PlainCLIP4IDC(model).decode(before, after), ours)


def test_the_optimiser_makes_our_moves(bench):
    shapes, moved = [(3, 4), (5,), (1,)], []
    for kind in ("ours", "plain"):
        torch.manual_seed(0)
        decayed, bare = [[torch.randn(*shape).requires_grad_() for shape in shapes] for _ in range(2)]
        groups = [{"params": decayed}, {"params": bare, "weight_decay": 0.0}]
        if kind == "ours":
            optimizer = BertAdam(groups, lr=0.1, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.2)
        else:
            optimizer = bench.PlainBertAdam(groups, 0.1, 0.98, 0.2)
        for _ in range(3):
            for parameter in (*decayed, *bare):
                parameter.grad = 3 * torch.randn_like(parameter)
            optimizer.step()
        moved.append([*decayed, *bare])
    for plain, ours in zip(moved[1], moved[0], strict=True):
        assert_close(plain, ours, atol=1e-6, rtol=1e-5)
