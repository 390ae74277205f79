"""ResNet-101 up to its third or last stage, frozen: the grid features that the field's methods read.

He et al., CVPR 2016. The stride of a stage is in its first block's 3x3 convolution, as in torchvision, and
the weights have torchvision's names. The final pooling and the classifier are left out.
"""

from torch import Tensor, nn
from torch.nn import functional as F

DEPTHS = (3, 4, 23, 3)
WIDTHS = (64, 128, 256, 512)
GROWTH = 4
"""Channels of a block's output, as a multiple of its inner width."""


class Bottleneck(nn.Module):
    """ReLU(BN(W3 ReLU(BN(W2 ReLU(BN(W1 x))))) + shortcut(x)); W1, W3 are 1x1, W2 is 3x3 with the stride."""

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = GROWTH * width
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outputs, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride > 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, h, w) -> (B, 4 width, h / stride, w / stride)."""
        shortcut = x if self.downsample is None else self.downsample(x)
        branch = F.relu(self.bn1(self.conv1(x)))
        branch = F.relu(self.bn2(self.conv2(branch)))
        return F.relu(self.bn3(self.conv3(branch)) + shortcut)


class ResNet101(nn.Module):
    """Stages 1 to 3 or 4: (B, 3, H, W) normalised -> (B, 1024, H/16, W/16) or (B, 2048, H/32, W/32).

    Values are at least 0: the last operation is a ReLU.
    """

    def __init__(self, stages: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        inputs = 64
        for number in range(stages):
            width, blocks = WIDTHS[number], []
            for block in range(DEPTHS[number]):
                blocks.append(Bottleneck(inputs, width, stride=2 if number and not block else 1))
                inputs = GROWTH * width
            self.add_module(f"layer{number + 1}", nn.Sequential(*blocks))
        self.stages = stages

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the last stage's map."""
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(pictures))), 3, stride=2, padding=1)
        for number in range(1, self.stages + 1):
            x = self.get_submodule(f"layer{number}")(x)
        return x
