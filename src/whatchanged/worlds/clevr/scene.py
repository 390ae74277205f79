"""A CLEVR scene as data: objects on a ground plane, a camera, three lamps, and the camera's projection.

World frame: x, y on the ground, z up, in Blender units. Every camera looks at the origin, and its up
direction is z. The position of a camera therefore determines its orientation. Picture frame: x to the right,
y down, in pixels, with the origin at the top left.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Shape = Literal["cube", "sphere", "cylinder"]
ObjectSize = Literal["small", "large"]
Material = Literal["rubber", "metal"]
Color = Literal["gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow"]
Point = tuple[float, float, float]

SHAPES: tuple[Shape, ...] = ("cube", "sphere", "cylinder")
SIZES: tuple[ObjectSize, ...] = ("small", "large")
MATERIALS: tuple[Material, ...] = ("rubber", "metal")
COLORS: tuple[Color, ...] = ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow")

RGB: dict[Color, tuple[int, int, int]] = {
    "gray": (87, 87, 87),
    "red": (173, 35, 35),
    "blue": (42, 75, 215),
    "green": (29, 105, 20),
    "brown": (129, 74, 25),
    "purple": (129, 38, 192),
    "cyan": (41, 208, 208),
    "yellow": (255, 238, 51),
}
"""The colors of CLEVR. Its renderer divides them by 255 and uses them as linear light, which makes them look
pale.
"""

RADIUS: dict[ObjectSize, float] = {"small": 0.35, "large": 0.7}
"""Half the edge of a cube, radius of a sphere, and radius and half the height of a cylinder, in units."""

CAMERA: Point = (7.48113, -6.50764, 5.34367)
KEY_LAMP: Point = (6.44671, -2.90517, 4.2584)
FILL_LAMP: Point = (-4.67112, -4.0136, 3.01122)
BACK_LAMP: Point = (-1.1685, 2.64602, 5.81574)
FOCAL_OVER_SENSOR = 35 / 32
"""The ratio of focal length to sensor width (35 mm to 32 mm). The focal length is 35/32 picture widths."""


@dataclass(frozen=True)
class SceneObject:
    """One object: its attributes, its position (x, y) on the ground, and its rotation in degrees."""

    shape: Shape
    size: ObjectSize
    color: Color
    material: Material
    x: float
    y: float
    rotation: float = 0.0

    @property
    def radius(self) -> float:
        """Return half the height, which is the z coordinate of the centre."""
        return RADIUS[self.size]

    @property
    def center(self) -> Point:
        """Return the world coordinates of the centre."""
        return (self.x, self.y, self.radius)


@dataclass(frozen=True)
class View:
    """The positions of the camera and of the key, fill and back lamps."""

    camera: Point = CAMERA
    lamps: tuple[Point, Point, Point] = (KEY_LAMP, FILL_LAMP, BACK_LAMP)


@dataclass(frozen=True)
class Scene:
    """The ground truth of one picture: the picture's objects in a fixed order, and its view."""

    objects: tuple[SceneObject, ...]
    view: View = View()


def camera_axes(camera: Point) -> NDArray[np.float64]:
    """Return the axes of a camera that looks at the origin: (3, 3), rows right, up and backward.

    The axes are orthonormal and in the world frame.
    """
    backward = np.asarray(camera, float) / math.dist(camera, (0, 0, 0))
    right = np.cross((0.0, 0.0, 1.0), backward)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(backward, right), backward])


def camera_matrix(camera: Point) -> NDArray[np.float64]:
    """Return the camera-to-world matrix, (4, 4). As in Blender, the camera looks along its own -z axis."""
    matrix = np.eye(4)
    matrix[:3, :3] = camera_axes(camera).T
    matrix[:3, 3] = camera
    return matrix


def directions(camera: Point) -> dict[str, Point]:
    """Return CLEVR's six directions for a camera: four unit vectors on the ground plane, and up and down."""
    right, _, backward = camera_axes(camera)
    front = np.array([backward[0], backward[1], 0.0])
    front /= np.linalg.norm(front)

    def point(v: NDArray[np.float64]) -> Point:
        return (float(v[0]), float(v[1]), float(v[2]))

    return {
        "behind": point(-front),
        "front": point(front),
        "left": point(-right),
        "right": point(right),
        "above": (0.0, 0.0, 1.0),
        "below": (0.0, 0.0, -1.0),
    }


def project(points: NDArray[np.float64], camera: Point, width: int, height: int) -> NDArray[np.float64]:
    """Project world points (..., 3) to (..., 3): x, y in pixels and depth along the view axis in units."""
    local = (np.asarray(points, float) - np.asarray(camera, float)) @ camera_axes(camera).T
    depth = -local[..., 2]
    focal = FOCAL_OVER_SENSOR * width
    x = width / 2 + focal * local[..., 0] / depth
    y = height / 2 - focal * local[..., 1] / depth
    return np.stack([x, y, depth], axis=-1)


def ground_in_view(x: float, y: float, camera: Point) -> tuple[float, float]:
    """Return a ground position in the directions of a camera: (to the right, towards the viewer).

    The position is relative to the origin. Every camera looks at the origin, so the same position differs
    between two cameras only by a rotation.
    """
    axes = directions(camera)
    right, front = axes["right"], axes["front"]
    return (x * right[0] + y * right[1], x * front[0] + y * front[1])
