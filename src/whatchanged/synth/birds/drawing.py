"""Draw a bird: polygons on a plain background, at four times the size, then scaled down. No torch.

A bird is drawn in its own coordinates: x to the front, y up, the body about one unit wide, its middle at the
origin. A view places these coordinates in the picture, and sets background and brightness.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from whatchanged.worlds.birds.bird import Bird

RGB = {
    "black": (28, 28, 30), "white": (240, 240, 236), "grey": (132, 134, 138), "brown": (112, 70, 38),
    "tan": (205, 176, 130), "yellow": (238, 206, 52), "orange": (234, 128, 30), "red": (196, 36, 36),
    "green": (58, 132, 58), "blue": (52, 92, 190),
}  # fmt: skip
GROUNDS = (
    (150, 186, 214),
    (182, 204, 170),
    (206, 196, 182),
    (120, 150, 118),
    (196, 210, 222),
    (168, 150, 134),
)
"""Background colours, like sky, leaves and earth; duller than any bird."""
BREAST_SPOTS = ((0.36, 0.06), (0.24, -0.03), (0.42, -0.06), (0.12, -0.14), (0.3, -0.16), (0.44, 0.16))
WING_SPOTS = ((0.02, 0.12), (-0.12, 0.06), (-0.26, 0.08), (-0.16, 0.16), (-0.34, -0.02), (-0.02, 0.02))
OVERSIZE = 4
PicturePoint = tuple[float, float]


@dataclass(frozen=True)
class BirdView:
    """The viewpoint and the background of a bird's picture.

    right: it faces right. tilt: in radians, head up. scale: a unit as a fraction of the picture's height. x,
    y: its middle as fractions of the picture. ground: index of the background. light: a factor on all
    colours. seed: of the noise.
    """

    right: bool
    tilt: float
    scale: float
    x: float
    y: float
    ground: int
    light: float
    seed: int


def any_view(rng: np.random.Generator) -> BirdView:
    """Return a random view. Only the tips of the longest beaks and tails may lie outside the picture."""
    return BirdView(
        right=bool(rng.random() < 0.5),
        tilt=float(rng.uniform(-0.25, 0.35)),
        scale=float(rng.uniform(0.34, 0.4)),
        x=float(rng.uniform(0.45, 0.55)),
        y=float(rng.uniform(0.44, 0.54)),
        ground=int(rng.integers(len(GROUNDS))),
        light=float(rng.uniform(0.85, 1.1)),
        seed=int(rng.integers(1 << 31)),
    )


def draw(bird: Bird, view: BirdView, size: int) -> Image.Image:
    """Return the picture, ``size`` by ``size`` pixels, RGB."""
    brush = _Brush(view, size * OVERSIZE, 0.8 + 0.35 * bird.size)
    brush.ground()
    _draw_legs(brush, bird)
    _draw_tail(brush, bird)
    _draw_body(brush, bird)
    _draw_wing(brush, bird)
    _draw_head(brush, bird)
    small = np.asarray(brush.image.resize((size, size), Image.Resampling.BOX), np.float32)
    noise = np.random.default_rng(view.seed).normal(0, 2.5, small.shape)
    return Image.fromarray(np.clip(small * view.light + noise, 0, 255).astype(np.uint8))


class _Brush:
    """Draws shapes in the bird's coordinates into the oversized picture."""

    def __init__(self, view: BirdView, pixels: int, growth: float) -> None:
        self.view = view
        self.pixels = pixels
        self.unit = view.scale * pixels * growth
        self.image = Image.new("RGB", (pixels, pixels), GROUNDS[view.ground])
        self.pen = ImageDraw.Draw(self.image)

    def ground(self) -> None:
        """Draw a darker band below the bird."""
        level = self.pixels * (self.view.y + 0.32)
        dull = tuple(int(0.82 * channel) for channel in GROUNDS[self.view.ground])
        self.pen.rectangle((0, level, self.pixels, self.pixels), fill=dull)

    def polygon(self, points: Sequence[PicturePoint], color: str, edge: bool = True) -> None:
        """Draw a filled shape, with an outline in a darker tone of its colour."""
        placed = [self._to_pixels(point) for point in points]
        self.pen.polygon(placed, fill=RGB[color])
        if edge:
            dark = tuple(int(0.55 * channel) + 8 for channel in RGB[color])
            self.pen.line(
                [*placed, placed[0]], fill=dark, width=max(1, round(0.018 * self.unit)), joint="curve"
            )

    def ellipse(
        self, middle: PicturePoint, radii: PicturePoint, color: str, turn: float = 0.0, edge: bool = True
    ) -> None:
        """Draw an ellipse turned by ``turn`` radians."""
        self.polygon(ring(middle, radii, turn), color, edge)

    def line(self, points: Sequence[PicturePoint], color: str, width: float) -> None:
        """Draw a line of the given width in units."""
        placed = [self._to_pixels(point) for point in points]
        self.pen.line(placed, fill=RGB[color], width=max(1, round(width * self.unit)), joint="curve")

    def _to_pixels(self, point: PicturePoint) -> PicturePoint:
        cos, sin = math.cos(self.view.tilt), math.sin(self.view.tilt)
        x, y = cos * point[0] - sin * point[1], sin * point[0] + cos * point[1]
        x = x if self.view.right else -x
        return self.view.x * self.pixels + self.unit * x, self.view.y * self.pixels - self.unit * y


def ring(middle: PicturePoint, radii: PicturePoint, turn: float) -> list[PicturePoint]:
    """Return forty points on an ellipse."""
    angles = np.linspace(0, 2 * math.pi, 40, endpoint=False)
    cos, sin = math.cos(turn), math.sin(turn)
    x, y = radii[0] * np.cos(angles), radii[1] * np.sin(angles)
    return [(middle[0] + cos * a - sin * b, middle[1] + sin * a + cos * b) for a, b in zip(x, y, strict=True)]


def _draw_legs(brush: _Brush, bird: Bird) -> None:
    down = -0.36 - 0.12 - 0.38 * bird.legs_length
    for x in (-0.06, 0.1):
        brush.line([(x, -0.25), (x, down), (x + 0.12, down - 0.02)], bird.legs, 0.05)
        brush.line([(x, down), (x - 0.07, down - 0.02)], bird.legs, 0.045)


def _draw_tail(brush: _Brush, bird: Bird) -> None:
    end = -0.5 - 0.2 - 0.6 * bird.tail_length
    brush.polygon([(-0.35, 0.06), (end, -0.12), (end - 0.03, -0.27), (-0.38, -0.16)], bird.tail)


def _draw_body(brush: _Brush, bird: Bird) -> None:
    brush.polygon([(0.2, 0.28), (0.38, 0.44), (0.66, 0.3), (0.46, -0.02)], bird.head, edge=False)
    brush.ellipse((0, 0), (0.56, 0.34), bird.wings, 0.25)
    brush.ellipse((0.2, -0.05), (0.36, 0.26), bird.breast, 0.45, edge=False)
    pattern, mark = bird.pattern("breast")
    if pattern == "spotted":
        for x, y in BREAST_SPOTS:
            brush.ellipse((x, y), (0.035, 0.035), mark, edge=False)
    elif pattern == "striped":
        for x in (0.06, 0.17, 0.28, 0.39):
            brush.line([(x, -0.22 + 0.35 * x), (x + 0.11, -0.04 + 0.35 * x)], mark, 0.04)


def _draw_wing(brush: _Brush, bird: Bird) -> None:
    wing = [(0.16, 0.14), (0.0, 0.26), (-0.25, 0.2), (-0.62, -0.1), (-0.3, -0.12), (-0.02, -0.06)]
    brush.polygon(wing, bird.wings)
    pattern, mark = bird.pattern("wings")
    if pattern == "spotted":
        for x, y in WING_SPOTS:
            brush.ellipse((x, y), (0.036, 0.036), mark, edge=False)
    elif pattern == "striped":
        for x in (0.0, -0.14, -0.28):
            brush.line([(x, 0.2 + 0.1 * x), (x - 0.1, -0.07)], mark, 0.045)


def _draw_head(brush: _Brush, bird: Bird) -> None:
    if bird.crest:
        brush.polygon([(0.42, 0.6), (0.2, 0.8), (0.34, 0.46)], bird.head)
    tip = 0.72 + 0.1 + 0.34 * bird.beak_length
    brush.polygon([(0.7, 0.5), (tip, 0.41), (0.7, 0.35)], bird.beak)
    brush.ellipse((0.52, 0.44), (0.23, 0.21), bird.head)
    if bird.stripe:
        brush.line([(0.32, 0.44), (0.74, 0.47)], bird.stripe, 0.07)
    brush.ellipse((0.58, 0.48), (0.045, 0.045), "white", edge=False)
    brush.ellipse((0.585, 0.48), (0.03, 0.03), "black", edge=False)
