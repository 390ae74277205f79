"""The pictures of the README are those that its tool draws."""

import draw_readme
from PIL import Image
from support.house import HOUSE

PICTURES = HOUSE.parents[1] / "docs" / "pictures"


def size_of(path):
    with Image.open(path) as picture:
        return picture.size


def test_each_screen_has_its_two_pictures():
    for folder, changed in (("old", False), ("new", True)):
        sizes = {path.stem: size_of(path) for path in (PICTURES / folder).glob("*.png")}
        assert sizes == dict.fromkeys(draw_readme.pages(changed), draw_readme.SCREEN)
    assert size_of(PICTURES / "report.png") == draw_readme.REPORT


def test_what_differs_between_before_and_after():
    before, after = draw_readme.pages(False), draw_readme.pages(True)
    bodies = [
        {name: text.partition("<main>")[2] for name, text in pages.items()} for pages in (before, after)
    ]
    alike = {name for name in before if bodies[0][name] == bodies[1][name]}
    assert alike == {
        "customers",
        "invoices",
        "profile",
        "settings",
        "sign-in",
    }  # all but profile have a button
    assert "button" not in bodies[0]["profile"] and draw_readme.OLD in before["sign-in"]
    assert draw_readme.NEW in after["sign-in"]


def test_a_chart_stands_on_its_line():
    assert "y=94 " not in draw_readme.bars([10]) and "y=84 " in draw_readme.bars([10])
