import random

import numpy as np
import pytest
import torch
from torch import nn

from whatchanged.errors import RecipeError
from whatchanged.training.checkpoint import State, model_tensors, read_checkpoint, save_checkpoint


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.norm, self.idle = nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 3)
        self.b = nn.Linear(3, 3)
        self.b.weight = self.a.weight

    def forward(self, x):
        return self.b(self.norm(self.a(x)))


def train_a_little(model, optimizer, steps=3):
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(5, 3)).square().mean().backward()
        optimizer.step()


def test_everything_comes_back(tmp_path):
    torch.manual_seed(0)
    model = Tied()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    train_a_little(model, optimizer)
    state = State(1, 7, {"mlm": 30}, 1.25, 2, {"mlm": [0.1 + 0.2, 3]}, 99, 4.5)
    save_checkpoint(tmp_path / "c" / "last.safetensors", state, model, optimizer)
    assert [path.name for path in (tmp_path / "c").iterdir()] == ["last.safetensors"]
    drawn = (random.random(), np.random.random(), torch.rand(1))
    train_a_little(model, optimizer)

    again = Tied()
    new_optimizer = torch.optim.Adam(again.parameters(), lr=0.1)
    saved = read_checkpoint(tmp_path / "c" / "last.safetensors")
    assert saved.state == state
    saved.restore_model(again)
    saved.restore_optimizer(again, new_optimizer)
    assert again.b.weight is again.a.weight
    saved.restore_random()
    assert drawn == (random.random(), np.random.random(), torch.rand(1))
    train_a_little(again, new_optimizer)
    for name, tensor in model_tensors(model).items():
        assert torch.equal(tensor, model_tensors(again)[name]), name


def test_a_shared_tensor_is_stored_once():
    assert "b.weight" not in model_tensors(Tied()) and "a.weight" in model_tensors(Tied())


def test_other_weights_are_refused(tmp_path):
    save_checkpoint(tmp_path / "x", State(), nn.Linear(3, 4), None)
    with pytest.raises(RecipeError, match=r"do not fit the recipe \(2 differ, first: bias\)"):
        read_checkpoint(tmp_path / "x").restore_model(nn.Linear(3, 5))


@pytest.mark.parametrize("content", [None, b"", b"no tensors here", b"\xff" * 4000])
def test_a_damaged_checkpoint_is_refused(tmp_path, content):
    path = tmp_path / "last.safetensors"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RecipeError, match="no checkpoint can be read here"):
        read_checkpoint(path)
