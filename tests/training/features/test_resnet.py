"""ResNet-101's trunk against plain functions on torchvision's names, and against another library's ResNet."""

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from whatchanged.training.features.resnet import ResNet101

EPSILON = 1e-5


def random_weights(seed=0):
    """A random state dictionary with the names and shapes of torchvision's resnet101, classes included."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        fan = torch.Size(shape[1:]).numel()
        return torch.randn(shape, generator=generator) * (2 / fan) ** 0.5

    def norm(name, width):
        return {
            f"{name}.weight": 0.5 + 0.5 * torch.rand(width, generator=generator),
            f"{name}.bias": 0.1 * torch.randn(width, generator=generator),
            f"{name}.running_mean": 0.1 * torch.randn(width, generator=generator),
            f"{name}.running_var": 0.5 + torch.rand(width, generator=generator),
            f"{name}.num_batches_tracked": torch.tensor(1),
        }

    weights = {"conv1.weight": normal(64, 3, 7, 7), **norm("bn1", 64)}
    inputs = 64
    for layer, (blocks, width) in enumerate([(3, 64), (4, 128), (23, 256), (3, 512)], start=1):
        for block in range(blocks):
            name = f"layer{layer}.{block}"
            shapes = [(width, inputs, 1, 1), (width, width, 3, 3), (4 * width, width, 1, 1)]
            for number, shape in enumerate(shapes, start=1):
                weights[f"{name}.conv{number}.weight"] = normal(*shape)
                weights |= norm(f"{name}.bn{number}", shape[0])
            if block == 0:
                weights[f"{name}.downsample.0.weight"] = normal(4 * width, inputs, 1, 1)
                weights |= norm(f"{name}.downsample.1", 4 * width)
            inputs = 4 * width
    return {**weights, "fc.weight": torch.zeros(1000, 2048), "fc.bias": torch.zeros(1000)}


def by_hand(w, x, last):
    """The trunk as a chain of functions, written from the paper's table and torchvision's names."""

    def norm(name, y):
        mean, var = w[f"{name}.running_mean"], w[f"{name}.running_var"]
        scale = w[f"{name}.weight"] / (var + EPSILON).sqrt()
        return y * scale[:, None, None] + (w[f"{name}.bias"] - mean * scale)[:, None, None]

    x = F.relu(norm("bn1", F.conv2d(x, w["conv1.weight"], stride=2, padding=3)))
    x = F.max_pool2d(x, 3, 2, 1)
    for layer, blocks in list(enumerate([3, 4, 23, 3], start=1))[:last]:
        for block in range(blocks):
            name, stride = f"layer{layer}.{block}", 2 if layer > 1 and block == 0 else 1
            y = F.relu(norm(f"{name}.bn1", F.conv2d(x, w[f"{name}.conv1.weight"])))
            y = F.relu(norm(f"{name}.bn2", F.conv2d(y, w[f"{name}.conv2.weight"], stride=stride, padding=1)))
            y = norm(f"{name}.bn3", F.conv2d(y, w[f"{name}.conv3.weight"]))
            if f"{name}.downsample.0.weight" in w:
                x = norm(f"{name}.downsample.1", F.conv2d(x, w[f"{name}.downsample.0.weight"], stride=stride))
            x = F.relu(x + y)
    return x


def trunk(weights, stages):
    network = ResNet101(stages).eval()
    own = network.state_dict()
    assert own.keys() <= weights.keys()
    network.load_state_dict({name: weights[name] for name in own})
    return network


@pytest.mark.parametrize(("stages", "shape"), [(3, (2, 1024, 4, 6)), (4, (2, 2048, 2, 3))])
def test_the_map_is_that_of_plain_functions(stages, shape):
    weights, pictures = random_weights(), torch.randn(2, 3, 64, 96, generator=torch.manual_seed(1))
    with torch.inference_mode():
        seen = trunk(weights, stages)(pictures)
        wanted = by_hand(weights, pictures, stages)
    assert seen.shape == shape and seen.min() >= 0 and seen.std() > 0
    assert_close(seen, wanted, rtol=1e-3, atol=1e-4 * float(wanted.abs().max()))


def test_a_picture_of_224_has_the_published_grids():
    assert ResNet101(3)(torch.zeros(1, 3, 224, 224)).shape == (1, 1024, 14, 14)
    parameters = sum(p.numel() for p in ResNet101(4).parameters())
    assert parameters == 44_549_160 - 2048 * 1000 - 1000  # torchvision's count without its classes


@pytest.mark.slow
def test_the_map_is_that_of_another_library():
    """transformers' ResNet; its own names, the stride in the same place."""
    transformers = pytest.importorskip("transformers")
    weights, pictures = random_weights(2), torch.randn(1, 3, 224, 224, generator=torch.manual_seed(3))
    other = transformers.ResNetModel(
        transformers.ResNetConfig(depths=[3, 4, 23, 3], hidden_sizes=[256, 512, 1024, 2048])
    ).eval()

    def parts(ours, theirs):
        yield ours[0], f"{theirs}.convolution"
        yield ours[1], f"{theirs}.normalization"

    pairs = list(parts(("conv1", "bn1"), "embedder.embedder"))
    for layer, blocks in enumerate([3, 4, 23, 3]):
        for block in range(blocks):
            ours, theirs = f"layer{layer + 1}.{block}", f"encoder.stages.{layer}.layers.{block}"
            for n in range(3):
                pairs += parts((f"{ours}.conv{n + 1}", f"{ours}.bn{n + 1}"), f"{theirs}.layer.{n}")
            if block == 0:
                pairs += parts((f"{ours}.downsample.0", f"{ours}.downsample.1"), f"{theirs}.shortcut")
    state = {
        theirs + name.removeprefix(ours): tensor
        for ours, theirs in pairs
        for name, tensor in weights.items()
        if name.startswith(f"{ours}.")
    }
    other.load_state_dict(state)
    with torch.inference_mode():
        found = other(pictures, output_hidden_states=True).hidden_states
        for stages in (3, 4):
            assert_close(trunk(weights, stages)(pictures), found[stages], rtol=1e-3, atol=1e-3)
