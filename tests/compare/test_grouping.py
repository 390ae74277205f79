import numpy as np
from support.drawn_page import page, with_box

from whatchanged.compare.evidence import log_odds
from whatchanged.compare.grouping import find_groups, least_odds
from whatchanged.measured import measure


def answers():
    """Five pages whose badge turned green, four whose bar became longer, one of both, one that is as it
    was."""
    rng = np.random.default_rng(0)
    results = []
    for index in range(11):
        before = page(220, 130)
        x, y = int(rng.integers(120, 160)), int(rng.integers(90, 100))
        before = with_box(before, (x, y, x + 30, y + 20), (200, 40, 40))
        before = with_box(before, (10, 96, 60, 102), (40, 40, 160))
        after = before
        if index < 5 or index == 9:
            after = with_box(after, (x, y, x + 30, y + 20), (20, 140, 60))
        if 5 <= index < 10:
            after = with_box(after, (60, 96, 90, 102), (40, 40, 160))
        results.append(measure(before, after))
    return results


def test_pairs_of_one_cause_are_together_and_the_odd_one_comes_first():
    groups = find_groups(answers())
    of = {index: k for k, group in enumerate(groups) for index in group.members}
    assert len({of[index] for index in range(5)}) == 1
    assert len({of[index] for index in range(5, 9)}) == 1
    assert of[0] != of[5]
    assert 10 not in of  # identical
    with_both = groups[of[9]]
    assert len(with_both.members) == 1 or with_both.members[0] == 9 == with_both.odd[0]


def test_every_differing_pair_is_in_one_group():
    groups = find_groups(answers())
    assert sorted(index for group in groups for index in group.members) == list(range(10))


def test_none_and_one():
    assert find_groups([]) == []
    assert find_groups([measure(page(), page())]) == []
    (group,) = find_groups([measure(page(), with_box(page(), (120, 90, 150, 110), (255, 0, 0)))])
    assert group.members == (0,)
    assert "added" in group.sentence


def test_what_did_not_change_visibly_is_in_no_group():
    faint = np.where(page() > 1, page() - 1, 0).astype(np.uint8)
    noise = measure(page(), faint)
    assert noise.verdict == "noise" and not noise.doubtful
    changed = measure(page(), with_box(page(), (120, 90, 150, 110), (255, 0, 0)))
    (group,) = find_groups([noise, changed, noise])
    assert group.members == (1,)


def rows(count, without=None, more=None):
    """A table of rows of the same height, each with a mark of its own."""
    pixels = np.full((200, 240, 3), 255, np.uint8)
    listed = [number for number in range(count) if number != without]
    if more is not None:
        listed.insert(more, 99)
    for at, number in enumerate(listed):
        top = 12 + 16 * at
        pixels[top : top + 8, 20 : 50 + 7 * (number % 9)] = 40
        pixels[top : top + 8, 150 : 170 + 5 * (number % 7)] = 90
    return pixels


def test_removed_rows_added_rows_and_exchanged_columns_are_never_together_unmarked():
    def exchanged(pixels):
        return np.concatenate([pixels[:, 120:], pixels[:, :120]], axis=1)

    results, causes = [], []
    for number in range(4):
        count = 7 + number % 2
        before = rows(count)
        for cause, after in (
            ("removed", rows(count, without=2 + number)),
            ("added", rows(count, more=1 + number)),
            ("exchanged", exchanged(before)),
        ):
            results.append(measure(before, after))
            causes.append(cause)
    for group in find_groups(results):
        plain = {causes[member] for member in group.members if member not in group.odd}
        assert len(plain) == 1, group


def moved_down(steps, x=0, color=40):
    """A page whose small square lies so many pixels lower."""
    before, after = page(220, 130), page(220, 130)
    before = with_box(before, (120 + x, 40, 150 + x, 60), (color, 40, 160))
    return measure(before, with_box(after, (120 + x, 40 + steps, 150 + x, 60 + steps), (color, 40, 160)))


def test_what_shows_the_same_less_clearly_is_joined_where_most_of_a_batch_has_one_cause():
    clear = [moved_down(20) for _ in range(6)]
    odds = log_odds([*clear, moved_down(36, 7)])
    assert least_odds(odds) < least_odds(log_odds(clear[:2])) < least_odds(np.full((9, 9), -9.0))


def test_one_distance_or_one_new_colour_joins_what_changed_in_other_ways():
    """A gap became 24 pixels larger: a square moved or a bar grew. Others took or got the new green."""
    red, green, blue = (200, 40, 40), (20, 140, 60), (40, 40, 160)
    results, causes = [], []
    for x in (100, 120, 140):
        plain, square, bar = page(220, 130), (x, 30, x + 30, 50), (x, 20, x + 8, 50)
        moved, longer = (x, 54, x + 30, 74), (x, 20, x + 8, 74)
        results.append(measure(with_box(plain, square, blue), with_box(plain, moved, blue)))
        results.append(measure(with_box(plain, bar, blue), with_box(plain, longer, blue)))
        results.append(measure(with_box(plain, square, red), with_box(plain, square, green)))
        results.append(measure(plain, with_box(plain, bar, green)))
        causes += ["gap", "gap", "green", "green"]
    groups = find_groups(results)
    assert [{causes[member] for member in group.members} for group in groups] == [{"gap"}, {"green"}]
