"""Pictures as a whole: determinism, light, shadow, colour, geometry, and the effects laid over."""

import json
import pathlib
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from whatchanged.synth.clevr import PLAIN, PictureLook, apply_look, look_for, render
from whatchanged.synth.clevr.draw import encode
from whatchanged.synth.clevr.sampling import sample_triple
from whatchanged.synth.clevr.visibility import index_picture
from whatchanged.worlds.clevr.scene import Scene, SceneObject, View
from whatchanged.worlds.clevr.truth import read_scene

BLENDER_DEV = pathlib.Path(__file__).resolve().parents[3] / "../shared/data/blender_clevr_dev"
CLEAN = replace(PLAIN, noise=0.0)
WIDTH, HEIGHT = 120, 80


def draw(
    *objects: SceneObject, view: View = View(), look: PictureLook = CLEAN, width: int = WIDTH
) -> np.ndarray:
    picture = render([Scene(objects, view)], width, width * 2 // 3, [look])[0]
    return picture.astype(float)


def item(
    shape: str, material: str = "rubber", color: str = "gray", x: float = 0.0, y: float = 0.0
) -> SceneObject:
    return SceneObject(shape, "large", color, material, x, y, 30.0)  # type: ignore[arg-type]


def test_a_picture_is_the_same_alone_in_company_and_again():
    scenes = [getattr(sample_triple(5, i), name) for i in range(2) for name in ("default", "semantic")]
    looks = [look_for(np.random.default_rng(i)) for i in range(4)]
    together = render(scenes, WIDTH, HEIGHT, looks)
    assert together.shape == (4, HEIGHT, WIDTH, 3) and together.dtype == np.uint8
    alone = [render([s], WIDTH, HEIGHT, [k])[0] for s, k in zip(scenes, looks, strict=True)]
    assert np.array_equal(together, alone)
    assert np.array_equal(together[::-1], render(scenes[::-1], WIDTH, HEIGHT, looks[::-1]))


def test_two_views_of_one_scene_get_different_grain():
    empty = [Scene(()), Scene((), View(camera=(7.48113, -6.50764, 5.344)))]
    grainy = render(empty, WIDTH, HEIGHT).astype(int)
    smooth = render(empty, WIDTH, HEIGHT, [CLEAN, CLEAN]).astype(int)
    first, second = grainy - smooth
    assert first.any() and not np.array_equal(first, second)


def test_every_thing_shows_where_the_geometry_says():
    scene = sample_triple(2, 0).default
    with_things = draw(*scene.objects, view=scene.view, width=240)
    bare = draw(view=scene.view, width=240)
    differs = np.abs(with_things - bare).max(-1) > 2
    index = index_picture(scene, 240, 160)
    for i in range(len(scene.objects)):
        assert differs[index == i].mean() > 0.9


def test_the_bare_ground_follows_the_inverse_square_law():
    """Lit by one lamp alone, the ground sends back P / 4 cos cos / d^2 * albedo / pi."""
    from whatchanged.synth.clevr.compiled import draw_compiled
    from whatchanged.synth.clevr.light import GROUND, LAMP_POWER, LAMP_RGB, pack

    scene = Scene(())
    packed = pack(scene, replace(CLEAN, lamps=(1.0, 0.0, 0.0), ambient=0.0))
    picture = next(iter(draw_compiled([packed], 121, 81)))
    lamp = np.array(scene.view.lamps[0])
    distance = np.linalg.norm(lamp)  # the middle pixel sees the origin, which the lamp faces
    expected = GROUND / np.pi * LAMP_POWER[0] / 4 * lamp[2] / distance**3 * np.array(LAMP_RGB[0])
    assert picture[40, 60] == pytest.approx(expected, rel=0.01)


def test_a_low_camera_sees_the_floor_rise_behind_the_scene():
    """Up the picture it brightens as it turns to the sun, then darkens as it turns on; a flat one is even."""
    low = View(camera=(8.5, -6.5, 3.4))
    up = draw(view=low, look=replace(CLEAN, lamps=(0.0, 0.0, 0.0)), width=240).mean((1, 2))
    peak = int(up[:100].argmax())
    assert 15 < peak < 100 and up[peak] > up[0] + 3 and up[peak] > up[-1] + 3
    flat = draw(view=low, look=replace(CLEAN, lamps=(0.0, 0.0, 0.0), floor=0.0), width=240).mean((1, 2))
    assert np.ptp(flat) < 1


def test_a_thing_darkens_the_ground_on_the_far_side_of_a_lamp():
    look = replace(CLEAN, lamps=(1.0, 0.0, 0.0), ambient=0.0)
    bare, shaded = draw(look=look), draw(item("sphere"), look=look)
    ground = index_picture(Scene((item("sphere"),)), WIDTH, HEIGHT) < 0
    darker = (bare - shaded).max(-1) * ground > 20
    rows, columns = np.nonzero(darker)
    assert len(rows) > 20
    assert columns.mean() < WIDTH / 2  # the key lamp hangs on the right


def test_shadows_have_soft_edges():
    """More pixels lie between light and shade than a hard shadow's outline would hold."""
    look = replace(CLEAN, lamps=(0.0, 0.0, 1.0), ambient=0.0)
    bare, shaded = draw(look=look, width=240), draw(item("cylinder"), look=look, width=240)
    share = (shaded / np.maximum(bare, 1)).mean(-1)
    share[index_picture(Scene((item("cylinder"),)), 240, 160) >= 0] = 1
    assert ((share > 0.4) & (share < 0.9)).sum() > 60


@pytest.mark.parametrize(("color", "channel"), [("red", 0), ("green", 1), ("blue", 2)])
def test_things_have_their_colour_in_both_materials(color: str, channel: int):
    for material in ("rubber", "metal"):
        picture = draw(item("cube", material, color))
        inside = index_picture(Scene((item("cube"),)), WIDTH, HEIGHT) == 0
        mean = picture[inside].mean(0)
        assert mean[channel] > 1.25 * np.delete(mean, channel).max()


def test_metal_has_highlights_and_deeper_darks_than_rubber():
    inside = index_picture(Scene((item("sphere"),)), WIDTH, HEIGHT) == 0
    rubber, metal = (draw(item("sphere", m))[inside].mean(-1) for m in ("rubber", "metal"))
    assert metal.max() > rubber.max() + 40
    assert np.percentile(metal, 20) < np.percentile(rubber, 20) - 10


def test_metal_mirrors_its_neighbour():
    alone = draw(item("cube", "metal"), width=240)
    beside = draw(item("cube", "metal"), item("sphere", "rubber", "red", 1.6, -0.2), width=240)
    both = Scene((item("cube"), item("sphere", x=1.6, y=-0.2)))
    inside = index_picture(both, 240, 160) == 0
    redder = (beside[..., 0] - beside[..., 2]) - (alone[..., 0] - alone[..., 2])
    assert redder[inside].max() > 15


@pytest.mark.parametrize("v", [0.0, 0.002, 0.0031308, 0.2, 1.0, 7.0])
def test_encoding_is_srgb(v: float):
    c = min(v, 1.0)
    expected = 12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055
    assert encode(np.array([v], np.float32))[0] == pytest.approx(expected, abs=1e-6)


def test_a_plain_look_without_grain_changes_nothing():
    picture = np.random.default_rng(0).integers(0, 256, (20, 30, 3), np.uint8)
    assert np.array_equal(apply_look(picture, CLEAN, np.random.default_rng(0)), picture)


def test_each_effect_does_what_its_name_says():
    rng = np.random.default_rng(0)
    picture = np.tile(np.repeat(np.array([60, 180], np.uint8), 15)[None, :, None], (20, 1, 3))
    picture[..., 0] += 20

    def after(**change: float | int) -> np.ndarray:
        return apply_look(picture, replace(CLEAN, **change), rng).astype(float)  # type: ignore[arg-type]

    before = picture.astype(float)
    assert after(exposure=1.1).mean() == pytest.approx(1.1 * before.mean(), abs=1)
    assert after(gamma=1.2)[0, 0, 1] == pytest.approx(255 * (60 / 255) ** 1.2, abs=0.6)
    assert np.ptp(after(saturation=0.0), axis=-1).max() == 0
    assert after(noise=2.0).std(axis=0).mean() == pytest.approx(2 * np.sqrt(1 + 0.09), rel=0.15)
    edge = np.abs(np.diff(before[..., 1], axis=1)).max()
    assert np.abs(np.diff(after(blur=1.0)[..., 1], axis=1)).max() < 0.6 * edge
    assert after(blur=1.0).mean() == pytest.approx(before.mean(), abs=0.6)
    lossy = after(jpeg=30)
    assert 0 < np.abs(lossy - before).mean() < 12


def test_the_looks_of_training_vary_around_blenders():
    looks = [look_for(np.random.default_rng(i)) for i in range(200)]
    assert looks[7] == look_for(np.random.default_rng(7))
    for name in ("exposure", "gamma", "saturation", "roughness", "ambient"):
        values = [getattr(k, name) for k in looks]
        assert np.percentile(values, 10) < 1 < np.percentile(values, 90)
    assert min(k.noise for k in looks) < PLAIN.noise < max(k.noise for k in looks)
    assert {k.jpeg is None for k in looks} == {True, False}


def test_drawings_of_blenders_scenes_are_as_bright_as_blenders_pictures():
    """$BLENDER_DEV: mean brightness, and each thing's mean colour, near those of the rendered pictures."""
    if not BLENDER_DEV.is_dir():
        pytest.skip("the Blender development set is not here")
    entries = json.loads((BLENDER_DEV / "scenes.json").read_text())["scenes"][0:30:6]
    scenes = [read_scene(entry) for entry in entries]
    drawn = render(scenes, 240, 160).astype(float)
    gaps = []
    for scene, entry, ours in zip(scenes, entries, drawn, strict=True):
        folder = {"default": "images", "semantic": "sc_images", "nonsemantic": "nsc_images"}[entry["split"]]
        with Image.open(BLENDER_DEV / folder / entry["image_filename"]) as picture:
            theirs = np.asarray(picture.convert("RGB").resize((240, 160), Image.Resampling.BICUBIC), float)
        assert ours.mean() == pytest.approx(theirs.mean(), abs=4)
        index = index_picture(scene, 240, 160)
        gaps += [
            np.abs(ours[index == i].mean(0) - theirs[index == i].mean(0)).mean() for i in set(index.flat)
        ]
    assert np.mean(gaps) < 6
