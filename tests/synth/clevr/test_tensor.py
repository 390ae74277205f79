"""The compiled renderer draws what the readable one on tensors draws (``support.tensor_renderer``)."""

import numpy as np
import pytest
import torch
from support.tensor_renderer import render_tensor

from whatchanged.synth.clevr import look_for, render
from whatchanged.synth.clevr.sampling import sample_triple
from whatchanged.worlds.clevr.scene import Scene

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.mark.parametrize("device", DEVICES)
def test_both_agree_within_one_grey_level_but_for_a_few_edge_pixels(device: str):
    scenes = [t.default for t in (sample_triple(1, i) for i in range(2))] + [sample_triple(1, 3).semantic]
    looks = [look_for(np.random.default_rng(i)) for i in range(3)]
    compiled = render(scenes, 120, 80, looks).astype(int)
    tensor = render_tensor(scenes, 120, 80, looks, device).astype(int)
    apart = np.abs(compiled - tensor).max(-1)
    assert (apart > 1).mean() < 1e-3
    assert apart.mean() < 0.05


def test_a_picture_does_not_depend_on_its_batch():
    """A scene of few things is padded beside one of many; that must not show."""
    few, many = Scene(sample_triple(0, 0).default.objects[:1]), sample_triple(0, 2).semantic
    together = render_tensor([few, many, few], 96, 64)
    assert np.array_equal(together[0], render_tensor([few], 96, 64)[0])
    assert np.array_equal(together[0], together[2])


def test_a_scene_without_things_is_bare_ground_in_both():
    compiled, tensor = (draw([Scene(())], 96, 64)[0].astype(int) for draw in (render, render_tensor))
    assert np.abs(compiled - tensor).max() <= 1
    assert compiled.min() > 60
