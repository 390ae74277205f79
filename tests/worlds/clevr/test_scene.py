import numpy as np
import pytest

from whatchanged.worlds.clevr.scene import camera_axes, camera_matrix, directions, ground_in_view, project

# A camera ten units from the origin in the plane x = 0: backward is (0, -0.8, 0.6), up is (0, 0.6, 0.8).
CAMERA = (0.0, -8.0, 6.0)


def test_axes_of_a_camera_worked_by_hand():
    wanted = [[1, 0, 0], [0, 0.6, 0.8], [0, -0.8, 0.6]]
    np.testing.assert_allclose(camera_axes(CAMERA), wanted, atol=1e-12)


@pytest.mark.parametrize(
    ("point", "pixel"),
    [
        ((0, 0, 0), (240, 160, 10)),
        # The focal length of a picture 480 wide is 480 * 35 / 32 = 525 pixels.
        ((1, 0, 0), (240 + 525 / 10, 160, 10)),
        ((0, 0, 1), (240, 160 - 525 * 0.8 / 9.4, 9.4)),
        ((0, 1, 0), (240, 160 - 525 * 0.6 / 10.8, 10.8)),
    ],
)
def test_project_worked_by_hand(point, pixel):
    np.testing.assert_allclose(project(np.array(point), CAMERA, 480, 320), pixel, atol=1e-9)


def test_ground_directions_worked_by_hand():
    results = directions(CAMERA)
    assert results["right"] == pytest.approx((1, 0, 0))
    assert results["front"] == pytest.approx((0, -1, 0))
    assert results["left"] == pytest.approx((-1, 0, 0))
    assert results["behind"] == pytest.approx((0, 1, 0))
    assert ground_in_view(2, 3, CAMERA) == pytest.approx((2, -3))


def test_projection_matrix_and_directions_agree_with_blender(dev_pictures):
    for entry in dev_pictures[:60]:
        camera = tuple(entry["camera"])
        np.testing.assert_allclose(camera_matrix(camera), entry["camera_matrix"], atol=1e-6)
        for name, axis in directions(camera).items():
            np.testing.assert_allclose(axis, entry["directions"][name], atol=1e-6)
        for item in entry["objects"]:
            at = project(np.array(item["3d_coords"]), camera, 480, 320)
            np.testing.assert_allclose(at, item["pixel_coords"], atol=1e-3)
