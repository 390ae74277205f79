import json

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from support.compared_screens import save, screen, two_runs, with_square
from support.drawn_page import page

from whatchanged.compare.comparison import compare
from whatchanged.compare.noise import learn_noise, read_noise
from whatchanged.compare.pairs import match_folders
from whatchanged.compare.settings import CompareSettings
from whatchanged.errors import WhatchangedError
from whatchanged.measured import measure


def pale(level: int) -> np.ndarray:
    """A screen with a small spot that is so much darker."""
    pixels = page().astype(int)
    pixels[86:90, 40:44] -= level
    return pixels.clip(0).astype(np.uint8)


def level_of_score(low: float, high: float) -> int:
    """The darkest step whose score lies between the two."""
    scores = {level: measure(page(), pale(level)).score for level in range(1, 60)}
    return next(level for level, score in scores.items() if low <= score < high)


@pytest.fixture(scope="module")
def slight():
    """A step that is a change at the usual sensitivity, but no strong one."""
    return level_of_score(1.0, 1.6)


def test_equal_runs_teach_nothing(tmp_path):
    old, new = two_runs(tmp_path, same=2, squares=0)
    learned = learn_noise(match_folders(old, new), workers=1)
    assert (learned.pictures, learned.sensitivity, learned.unsteady, learned.unexplained) == (2, 1.0, {}, {})


def test_small_differences_lower_the_sensitivity_for_every_picture(tmp_path, slight):
    save(page(), tmp_path / "one" / "a.png")
    save(pale(slight), tmp_path / "two" / "a.png")
    learned = learn_noise(match_folders(tmp_path / "one", tmp_path / "two"), workers=1)
    score = measure(page(), pale(slight)).score
    assert learned.sensitivity == pytest.approx(0.8 / (1.1 * score), abs=1e-3) and learned.unsteady == {}
    save(page(), tmp_path / "old" / "b.png")
    save(pale(slight), tmp_path / "new" / "b.png")
    runs = match_folders(tmp_path / "old", tmp_path / "new")
    assert not compare(runs, CompareSettings(), workers=1).passes
    assert compare(runs, learned.applied(CompareSettings()), workers=1).passes
    save(with_square(page()), tmp_path / "new" / "b.png")
    assert not compare(runs, learned.applied(CompareSettings()), workers=1).passes


def test_a_place_that_differs_from_run_to_run_is_ignored_in_its_picture_alone(tmp_path):
    names = ("clock [1].png", "still.png")
    for folder, color in (
        ("one", (200, 0, 0)),
        ("two", (0, 0, 200)),
        ("old", (90, 0, 90)),
        ("new", (0, 0, 0)),
    ):
        save(with_square(page(), color), tmp_path / folder / names[0])
        save(page(), tmp_path / folder / names[1])
    learned = learn_noise(match_folders(tmp_path / "one", tmp_path / "two"), workers=1)
    assert learned.sensitivity == 1.0 and list(learned.unsteady) == [names[0]]
    left, top, right, bottom = learned.unsteady[names[0]][0]
    assert left <= 170 and top <= 92 and right >= 188 and bottom >= 110
    assert (right - left) * (bottom - top) < 40 * 40
    (tmp_path / "noise.json").write_text(learned.to_json())
    settings = read_noise(tmp_path / "noise.json").applied(CompareSettings(sensitivity=0.5))
    assert settings.sensitivity == 0.5
    runs = match_folders(tmp_path / "old", tmp_path / "new")
    comparison = compare(runs, settings, workers=1)
    assert comparison.passes and comparison.outcomes[0].boxes == learned.unsteady[names[0]]
    save(with_square(with_square(page()), left=100, top=2), tmp_path / "new" / names[0])
    assert not compare(runs, settings, workers=1).passes
    save(with_square(page()), tmp_path / "new" / names[1])
    assert [one.pair.pair_id for one in compare(runs, settings, workers=1).changed] == list(names)


def clocks(run):
    """A page of 800 x 600 pixels with ten times of day, each another one in every run."""
    image = Image.new("RGB", (800, 600), (245, 246, 248))
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(16)
    draw.rectangle((0, 0, 800, 48), fill=(30, 41, 59))
    for number in range(10):
        x, y = 40 + number % 2 * 400, 80 + number // 2 * 100
        draw.rectangle((x, y, x + 320, y + 70), fill="white", outline=(200, 205, 212))
        draw.text((x + 14, y + 10), f"Server {number + 1}", fill=(20, 20, 20), font=font)
        hour, minute, second = (7 * run + number) % 24, (13 * run + 5 * number) % 60, (31 * run) % 60
        time = f"updated {hour:02}:{minute:02}:{second:02}"
        draw.text((x + 14, y + 38), time, fill=(90, 100, 110), font=font)
    return np.asarray(image)


def test_many_unsteady_places_of_a_screen_are_all_learned(tmp_path):
    for run, folder in enumerate(("one", "two", "old", "new"), 1):
        save(clocks(run), tmp_path / folder / "p.png")
    learned = learn_noise(match_folders(tmp_path / "one", tmp_path / "two"), workers=1)
    assert list(learned.unsteady) == ["p.png"] and learned.unexplained == {}
    runs = match_folders(tmp_path / "old", tmp_path / "new")
    (unlearned,) = compare(runs, CompareSettings(), workers=1).outcomes
    assert unlearned.changed and unlearned.answer.answer == "measured"
    assert compare(runs, learned.applied(CompareSettings()), workers=1).passes
    save(with_square(clocks(4), left=600, top=10), tmp_path / "new" / "p.png")
    assert not compare(runs, learned.applied(CompareSettings()), workers=1).passes


def test_taught_places_are_not_called_idle(tmp_path):
    for folder, color in (("one", (200, 0, 0)), ("two", (0, 0, 200))):
        save(with_square(page(), color), tmp_path / folder / "a.png")
    learned = learn_noise(match_folders(tmp_path / "one", tmp_path / "two"), workers=1)
    old, new = two_runs(tmp_path, same=1, squares=0)
    comparison = compare(match_folders(old, new), learned.applied(CompareSettings()), workers=1)
    assert len(comparison.settings.ignored) == 1 and comparison.unused == ()


def test_what_cannot_be_taught_is_named(tmp_path):
    save(page(), tmp_path / "one" / "a.png")
    save(page(220, 130), tmp_path / "two" / "a.png")
    save(page(), tmp_path / "one" / "b.png")
    (tmp_path / "two" / "b.png").write_bytes(b"x")
    learned = learn_noise(match_folders(tmp_path / "one", tmp_path / "two"), workers=1)
    assert learned.unexplained["a.png"] == "it has two sizes"
    assert "not a picture" in learned.unexplained["b.png"]


def test_runs_without_a_common_picture_and_files_that_are_others(tmp_path):
    save(screen(1), tmp_path / "one" / "a.png")
    save(screen(2), tmp_path / "two" / "b.png")
    with pytest.raises(WhatchangedError, match="no picture in common"):
        learn_noise(match_folders(tmp_path / "one", tmp_path / "two"))
    good = {"format": 1, "pictures": 1, "sensitivity": 0.5, "unsteady": {"a": [[0, 0, 1, 1]]}}
    path = tmp_path / "noise.json"
    path.write_text(json.dumps(good))
    assert read_noise(path).unsteady == {"a": ((0, 0, 1, 1),)}
    for spoiled in (
        {"format": 2},
        {"sensitivity": 2},
        {"sensitivity": True},
        {"unsteady": []},
        {"pictures": "1"},
    ):
        path.write_text(json.dumps({**good, **spoiled}))
        with pytest.raises(WhatchangedError, match="no file that calibrate wrote"):
            read_noise(path)
    path.write_text(json.dumps({**good, "unsteady": {"a": [[0, 0, 0, 1]]}}))
    with pytest.raises(WhatchangedError, match="'a' holds something that is no box"):
        read_noise(path)


def test_two_layouts_are_no_noise(tmp_path):
    """What would be a box over more than half of the picture is named, and not taught."""
    for folder, color in (("one", (200, 0, 0)), ("two", (0, 0, 200))):
        picture = page().copy()
        height, width = picture.shape[:2]
        picture[4 : height - 4, 4 : width - 4] = color
        save(picture, tmp_path / folder / "a.png")
    learned = learn_noise(match_folders(tmp_path / "one", tmp_path / "two"), workers=1)
    assert learned.unsteady == {}
    assert "of it differ: two layouts?" in learned.unexplained["a.png"]
