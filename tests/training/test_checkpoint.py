import json
import random

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import nn

from whatchanged.errors import RecipeError
from whatchanged.training.checkpoint import State, model_tensors, read_checkpoint, read_state, save_checkpoint


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


@pytest.fixture
def saved(tmp_path):
    """The file of a checkpoint with an optimiser's state, and the model that it is of."""
    torch.manual_seed(0)
    model = Tied()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    train_a_little(model, optimizer)
    save_checkpoint(tmp_path / "last.safetensors", State(step=3), model, optimizer)
    return tmp_path / "last.safetensors", model


def test_a_flipped_bit_is_noticed(saved):
    """The last byte of the file is of a tensor; its numbers stay numbers."""
    path, _ = saved
    content = bytearray(path.read_bytes())
    for place in (-1, -len(content) // 3):
        flipped = bytearray(content)
        flipped[place] ^= 1
        path.write_bytes(flipped)
        with pytest.raises(RecipeError, match="its SHA-256 differs"):
            read_checkpoint(path)
    path.write_bytes(content)
    assert read_checkpoint(path).state.step == 3


def rewritten(path, change):
    """The checkpoint without its checksum, as versions before wrote it, and with a change."""
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        rest = json.loads(file.metadata()["rest"])
    del rest["sha256"]
    change(tensors, rest)
    path.write_bytes(save(tensors, {"rest": json.dumps(rest)}))
    return path


def test_a_checkpoint_without_a_checksum_is_read(saved):
    path, model = saved
    found = read_checkpoint(rewritten(path, lambda tensors, rest: None))
    found.restore_model(Tied())
    found.restore_optimizer(model, torch.optim.Adam(model.parameters()))
    found.restore_random()


def put(part, key, value):
    return lambda tensors, rest: (rest if part is None else rest[part]).update({key: value})


def renamed(old, new):
    return lambda tensors, rest: tensors.update({new: tensors.pop(old)})


@pytest.mark.parametrize(
    "change",
    [
        put("state", "step", "three"),
        put("state", "step", -1),
        put("state", "stage", 0.5),
        put("state", "positions", {"mlm": []}),
        put("state", "positions", 3),
        put("state", "window", {"mlm": [1.0]}),
        put("state", "window", {"mlm": 1}),
        put("state", "finished", "no"),
        put("state", "best", "good"),
        put("state", "more", 1),
        put(None, "state", []),
        put(None, "python", [3, [1, 2], None]),
        put(None, "python", "random"),
        put(None, "numpy", [[]]),
        lambda tensors, rest: tensors.pop("random.torch"),
        lambda tensors, rest: tensors.update({"random.numpy": torch.zeros(2)}),
        renamed("optimizer.a.bias.exp_avg", "optimizer.x.exp_avg"),
        renamed("optimizer.a.bias.exp_avg", "optimizer.a.bias.other"),
        lambda tensors, rest: tensors.update({"optimizer.a.bias.exp_avg": torch.zeros(7)}),
    ],
)
def test_what_is_wrong_in_a_checkpoint_is_one_message(saved, change):
    path, model = saved
    optimizer = torch.optim.Adam(model.parameters())
    with pytest.raises(RecipeError, match="no checkpoint can be read here"):
        found = read_checkpoint(rewritten(path, change))
        found.restore_optimizer(model, optimizer)
        found.restore_random()


def test_the_state_is_read_without_the_weights(saved, tmp_path):
    assert read_state(saved[0]).step == 3
    with pytest.raises(RecipeError, match="no checkpoint can be read here"):
        read_state(tmp_path / "nothing")
