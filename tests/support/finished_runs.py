"""What two runs are compared by."""

import json

import torch

from whatchanged.training.checkpoint import read_checkpoint


def lines(run):
    """The run's metrics without the clock."""
    parsed = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key != "seconds"} for line in parsed]


def weights(run):
    """The tensors of the model in the run's last checkpoint."""
    tensors = read_checkpoint(run / "checkpoints" / "last.safetensors").tensors
    return {name: tensor for name, tensor in tensors.items() if name.startswith("model.")}


def assert_same(run, other):
    assert lines(run) == lines(other)
    assert weights(run).keys() == weights(other).keys()
    assert all(torch.equal(tensor, weights(other)[name]) for name, tensor in weights(run).items())
