import io
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from PIL import Image

from whatchanged.errors import OutputError
from whatchanged.figures.figure import BoxMark, DotMark, Figure, LineMark, PictureMark, TextMark

RED = (200, 0, 0)
SVG = "{http://www.w3.org/2000/svg}"
UNSHOWN = "\N{REPLACEMENT CHARACTER}"
HOSTILE = "</text><script>alert(1)</script>&\x1b[31m\u202e"


def pixels(figure):
    return np.asarray(Image.open(io.BytesIO(figure.png())).convert("RGB")).astype(int)


def test_marks_lie_where_they_are_put():
    blue = Image.new("RGB", (4, 3), (0, 0, 255))
    marks = [PictureMark((10, 5), blue), LineMark([(0, 15), (30, 15)], RED, 2), DotMark((25, 5), RED)]
    made = pixels(Figure(30, 20, marks))
    assert made.shape == (20, 30, 3)
    assert (made[5:8, 10:14] == (0, 0, 255)).all() and (made[4, 10] == 255).all()
    assert (made[15, 15] == RED).all() and (made[12, 15] == 255).all()
    assert (made[5, 25] == RED).all()


def test_a_frame_and_a_text_leave_ink():
    made = pixels(Figure(60, 30, [BoxMark((5, 5, 50, 25), RED, 2), TextMark((27, 15), "cube", 12, "middle")]))
    assert made[5, 20, 0] == 200 and (made[8:22, 15:40] < 100).any() and (made[8:22, 7:12] == 255).all()


def test_the_svg_has_all_marks_and_no_markup_of_a_strangers_text():
    picture = Image.new("RGB", (4, 3), (0, 0, 255))
    marks = [
        PictureMark((1, 2), picture),
        TextMark((3, 4), HOSTILE),
        LineMark([(0, 0), (1, 1)]),
        DotMark((1, 1)),
        BoxMark((1, 1, 2, 2)),
    ]
    root = ElementTree.fromstring(Figure(10, 8, marks).svg())
    assert [child.tag.removeprefix(SVG) for child in root] == [
        *("rect", "image", "text", "polyline", "circle", "rect"),
    ]
    assert (
        root[2].text
        == "</text><script>alert(1)</script>&\N{REPLACEMENT CHARACTER}[31m\N{REPLACEMENT CHARACTER}"
    )
    assert root[1].attrib["href"].startswith("data:image/png;base64,")


def test_the_suffix_says_the_format(tmp_path):
    figure = Figure(4, 4, [DotMark((2, 2))])
    for name in ("a.png", "a.SVG"):
        figure.save(tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == figure.png() == figure._repr_png_()
    assert (tmp_path / "a.SVG").read_text() == figure.svg()
    with pytest.raises(OutputError, match=r"ends in \.png or \.svg"):
        figure.save(tmp_path / "a.jpg")
    assert not (tmp_path / "a.jpg").exists()
