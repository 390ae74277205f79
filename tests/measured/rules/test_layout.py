import numpy as np
import pytest

from whatchanged.measured.rules.distances import Container, Distances, Space
from whatchanged.measured.rules.layout import matching_cuts
from whatchanged.measured.rules.segments import segments_of


def picture(gap=10, fill=(230, 230, 230), ink=20):
    """A framed box, and two strokes below it."""
    pixels = np.full((120, 160, 3), 250, np.uint8)
    pixels[20:50, 20:90] = 100
    pixels[21:49, 21:89] = fill
    top = 50 + gap
    pixels[top : top + 12, 30:36] = ink
    pixels[top + 4 : top + 8, 36:52] = ink
    return pixels


def test_segments_are_empty_lines_and_lines_with_content():
    found = [(one.start, one.stop, one.color) for one in segments_of(picture(), 0)]
    ground = (250, 250, 250)
    assert found == [(0, 20, ground), (20, 50, None), (50, 60, ground), (60, 72, None), (72, 120, ground)]


def test_a_changed_distance_is_a_step_of_a_cut():
    cuts = matching_cuts(picture(), picture(gap=17))
    assert cuts is not None
    (cut,) = [cut for cut in cuts if any(cut.step(k) for k in range(len(cut.segments)))]
    assert (cut.axis, [cut.step(k) for k in range(len(cut.segments))]) == (0, [0, 0, 7, 0, -7])
    (space,) = Distances(cut).changes()
    assert space == Space(0, 7, (((20, 20, 90, 50),) * 2, ((30, 60, 52, 72), (30, 67, 52, 79))))


@pytest.mark.parametrize("other", [{"ink": 120}, {"fill": (255, 200, 200)}])
def test_layouts_of_other_things_do_not_match(other):
    assert matching_cuts(picture(), picture(gap=17, **other)) is None


def test_a_container_gained_space_where_it_became_longer():
    boxes = ((0, 0, 50, 20), (0, 0, 50, 30))
    assert Container(boxes, {"top": 5, "bottom": 5}).is_consistent
    assert not Container(boxes, {"top": -5}).is_consistent
