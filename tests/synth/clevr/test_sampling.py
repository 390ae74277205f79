from itertools import combinations

import numpy as np
import pytest

from whatchanged.synth.clevr import sampling
from whatchanged.synth.clevr.sampling import CAMERA_SHIFT, HEIGHT, WIDTH, sample_triple
from whatchanged.synth.clevr.truth import mean_overlap
from whatchanged.synth.clevr.visibility import boxes, index_picture, visible_pixels
from whatchanged.worlds.clevr.change import NOTHING, kept, named
from whatchanged.worlds.clevr.phrases import describable, plain_subsets, relational_phrases
from whatchanged.worlds.clevr.scene import BACK_LAMP, CAMERA, FILL_LAMP, KEY_LAMP, directions, project

TYPES = ("color", "material", "add", "drop", "move")


def view_iou(before, after, change):
    results = (boxes(index_picture(scene, WIDTH, HEIGHT), len(scene.objects)) for scene in (before, after))
    return mean_overlap(*results, *kept(before, after, change))


@pytest.fixture(scope="module")
def triples():
    return [sample_triple(7, i) for i in range(150)]


def test_a_triple_follows_from_seed_and_index_alone(triples):
    assert sample_triple(7, 33) == triples[33]
    assert sample_triple(8, 33) != triples[33]


def test_cameras_may_stand_anywhere_around():
    around = [sample_triple(7, i, "around") for i in range(60)]
    assert around[33] == sample_triple(7, 33, "around") != sample_triple(7, 33)
    turns = []
    for t in around:
        first = np.array(t.default.view.camera)
        for scene in (t.semantic, t.nonsemantic):
            later = np.array(scene.view.camera)
            assert abs(later[2] - first[2]) <= CAMERA_SHIFT
            assert abs(np.hypot(*later[:2]) - np.hypot(*first[:2])) <= np.sqrt(2) * CAMERA_SHIFT
            turns.append(np.arctan2(later[1], later[0]) - np.arctan2(first[1], first[0]))
        assert view_iou(t.default, t.semantic, t.change) < 1
    spread = np.histogram(np.mod(turns, 2 * np.pi), 6, (0, 2 * np.pi))[0]
    assert spread.min() >= 8  # of 120, 20 expected in each sixth of the circle


def test_low_cameras_stand_lower_and_see_things_behind_others(triples):
    low = [sample_triple(7, i, "low") for i in range(40)]
    assert low[33] == sample_triple(7, 33, "low")
    least = []
    for t in low:
        for scene in (t.semantic, t.nonsemantic):
            assert 1 <= t.default.view.camera[2] - scene.view.camera[2] <= 3
            shown = visible_pixels(index_picture(scene, 480, 320), len(scene.objects))
            least.append(shown.min())
    assert min(least) >= 20
    assert min(least) < 100  # other views show at least 100 pixels of each
    near = [scene for i in range(40) for scene in (triples[i].semantic, triples[i].nonsemantic)]
    others = [visible_pixels(index_picture(s, 480, 320), len(s.objects)).min() for s in near]
    assert np.median(least) < 0.8 * np.median(others)


def test_all_views_come_in_turn(triples):
    drawn = [sample_triple(7, i, "all") for i in range(15)]
    assert drawn[:5] == triples[:5]
    assert drawn[5:10] == [sample_triple(7, i, "low") for i in range(5, 10)]
    assert drawn[10:] == [sample_triple(7, i, "around") for i in range(10, 15)]


def test_mixed_views_are_one_third_around_in_every_type(triples):
    mixed = [sample_triple(7, i, "mixed") for i in range(30)]
    around = [i for i in range(30) if mixed[i] != triples[i]]
    assert around == [*range(10, 15), *range(25, 30)]
    assert all(mixed[i] == sample_triple(7, i, "around") for i in around)


def test_fixed_cameras_stand_where_the_first_one_does(triples):
    for i in range(10):
        fixed = sample_triple(7, i, "fixed")
        cameras = {scene.view.camera for scene in (fixed.default, fixed.semantic, fixed.nonsemantic)}
        assert cameras == {fixed.default.view.camera}
        assert len({scene.view.lamps for scene in (fixed.default, fixed.semantic)}) == 2
        assert view_iou(fixed.default, fixed.nonsemantic, NOTHING) == 1
    assert fixed.default == triples[9].default  # the first view is drawn before any other


def test_doubles_leave_only_a_relation_to_tell_the_changed_object_by():
    seen = set()
    for i in range(40):
        t = sample_triple(7, i, doubles=1.0)
        scene, which = named(t.default, t.semantic, t.change)
        assert not plain_subsets(scene, which)
        assert next(relational_phrases(scene, which))
        seen.add(t.change.type)
    assert len(seen) == 5
    alone = [plain_subsets(*named(*sample_triple(7, i, doubles=0.5).pairs()[0])) for i in range(60)]
    assert 18 <= sum(not subsets for subsets in alone) <= 44  # 30 by design and some 2 by chance


def test_types_take_turns_and_counts_span_the_range(triples):
    assert [t.change.type for t in triples] == [TYPES[i % 5] for i in range(150)]
    assert [t.index for t in triples] == list(range(150))
    counts = [len(s.objects) for t in triples for s in (t.default, t.semantic, t.nonsemantic)]
    assert set(counts) == set(range(3, 11))


def test_exactly_one_object_changes_and_in_the_way_told(triples):
    for t in triples:
        old, new, change = t.default.objects, t.semantic.objects, t.change
        assert t.nonsemantic.objects == old
        if change.type == "add":
            assert (new[:-1], change.before, change.after) == (old, None, len(old))
        elif change.type == "drop":
            assert (*old[: change.before], *old[change.before + 1 :]) == new
            assert change.after is None
        else:
            assert change.before == change.after
            differ = [i for i in range(len(old)) if old[i] != new[i]]
            assert differ == [change.before]
            a, b = old[differ[0]], new[differ[0]]
            fields = [
                f
                for f in ("shape", "size", "color", "material", "rotation")
                if getattr(a, f) != getattr(b, f)
            ]
            assert fields == ([] if change.type == "move" else [change.type])
            gone = np.hypot(a.x - b.x, a.y - b.y)
            assert gone >= 1 if change.type == "move" else gone == 0


def test_objects_keep_their_distance_and_margins(triples):
    for t in triples:
        axes = directions(t.default.view.camera)
        for scene in (t.default, t.semantic):
            for a, b in combinations(scene.objects, 2):
                apart = np.array([a.x - b.x, a.y - b.y])
                assert np.linalg.norm(apart) - a.radius - b.radius > 0.25
                for name in ("left", "front"):
                    assert abs(apart @ axes[name][:2]) >= 0.4
            assert all(abs(c) <= 3 for item in scene.objects for c in (item.x, item.y))


def test_objects_are_seen_as_the_rules_say(triples):
    for t in triples:
        for scene, least, changed in (
            (t.default, 200, t.change.before),
            (t.semantic, 100, t.change.after),
            (t.nonsemantic, 100, t.change.before),
        ):
            seen = visible_pixels(index_picture(scene, 480, 320), len(scene.objects))
            assert seen.min() >= least
            assert changed is None or seen[changed] >= 300
        x, y, _ = project(
            np.array([item.center for item in t.default.objects]),
            t.default.view.camera,
            480,
            320,
        ).T
        assert min(x.min(), y.min()) >= 6 and x.max() <= 474 and y.max() <= 314


def test_cameras_and_lamps_are_drawn_anew_within_their_bounds(triples):
    lamps, cameras = [], []
    for t in triples:
        first = np.array(t.default.view.camera)
        assert np.abs(first - CAMERA).max() <= 0.5
        for scene in (t.semantic, t.nonsemantic):
            shift = np.array(scene.view.camera) - first
            assert np.abs(shift).max() <= sampling.AFTER_SHIFT[1]
            cameras.append(shift)
        for scene in (t.default, t.semantic, t.nonsemantic):
            lamps.append(np.array(scene.view.lamps) - np.array((KEY_LAMP, FILL_LAMP, BACK_LAMP)))
    assert len(np.unique(np.array(lamps).reshape(-1, 9), axis=0)) == 3 * len(triples)
    assert len(np.unique(np.array(cameras), axis=0)) == 2 * len(triples)
    assert np.abs(lamps).max() <= 1


def test_the_six_ordered_pairs_are_consistent_and_speakable(triples):
    for t in triples:
        pairs = t.all_pairs()
        assert (
            pairs[:2] == t.pairs() == ((t.default, t.semantic, t.change), (t.default, t.nonsemantic, NOTHING))
        )
        assert len({(id(b), id(a)) for b, a, _ in pairs}) == 6
        for before, after, change in pairs:
            assert (change == NOTHING) == (before.objects == after.objects)
            assert len(after.objects) - len(before.objects) == {"add": 1, "drop": -1}.get(change.type, 0)
            if change != NOTHING:
                assert describable(*named(before, after, change))
            if change.type in ("color", "material"):
                a, b = before.objects[change.before], after.objects[change.after]
                assert getattr(a, change.type) != getattr(b, change.type)


def test_overlap_of_boxes_worked_by_hand():
    first = [(0.0, 0.0, 4.0, 4.0), (10.0, 10.0, 2.0, 2.0), None]
    second = [(2.0, 0.0, 4.0, 4.0), (20.0, 10.0, 2.0, 2.0), (0.0, 0.0, 1.0, 1.0)]
    # 2 x 4 shared of 16 + 16 - 8; nothing shared; one not seen.
    assert mean_overlap(first, second, [0, 1, 2], [0, 1, 2]) == pytest.approx((8 / 24 + 0) / 2)
    assert mean_overlap(first, second, [0], [0]) == pytest.approx(1 / 3)
    assert mean_overlap(first, second, [2], [2]) == 0


def test_overlap_is_whole_without_a_new_camera_and_leaves_the_moved_object_out(triples):
    t = triples[4]
    assert t.change.type == "move"
    assert view_iou(t.default, t.default, NOTHING) == 1
    moved_only = sampling.Scene(t.semantic.objects, t.default.view)
    assert view_iou(t.default, moved_only, NOTHING) < view_iou(t.default, moved_only, t.change)


def test_overlaps_are_spread_as_in_the_published_list(triples):
    found = np.array([view_iou(*pair) for t in triples for pair in t.pairs()])
    assert found.mean() == pytest.approx(0.508, abs=0.03)
    assert found.std() == pytest.approx(0.144, abs=0.025)
    for point, wanted in ((0.05, 0.281), (0.25, 0.408), (0.5, 0.502), (0.75, 0.605), (0.95, 0.755)):
        assert np.quantile(found, point) == pytest.approx(wanted, abs=0.05)


def test_overlap_agrees_with_blender(dev_folder):
    import json

    from whatchanged.worlds.clevr.truth import read_triples

    told = json.loads((dev_folder / "pairs.json").read_text())
    for triple, entry in zip(read_triples(dev_folder), told, strict=True):
        (b, a, change), (_, d, _) = triple.pairs()
        assert view_iou(b, a, change) == pytest.approx(entry["view_iou_semantic"], abs=0.03)
        assert view_iou(b, d, NOTHING) == pytest.approx(entry["view_iou_nonsemantic"], abs=0.03)
