"""A network from elsewhere as a backbone: ``whatchanged features DATA OUT --backbone toy-net:8 ...``."""

from pathlib import Path

from safetensors.torch import load_file
from torch import nn

from whatchanged.errors import RecipeError
from whatchanged.training.features import GridNetwork


def open_net(detail: str, weights: Path | None) -> GridNetwork:
    """A convolution of 16 x 16 pixels a cell. detail: its channels, what stands behind the colon."""
    if weights is None:
        raise RecipeError("toy-net: name its weights: --weights FILE.safetensors")
    network = nn.Sequential(nn.Conv2d(3, int(detail or 8), 16, stride=16), nn.GELU())
    network.load_state_dict(load_file(weights))
    return GridNetwork(
        network, size=(64, 48), mean=(0.5,) * 3, std=(0.25,) * 3, layer="the only one, after GELU"
    )
