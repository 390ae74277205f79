from hypothesis import given
from hypothesis import strategies as st
from support.pair_records import pair_record

from whatchanged.evaluation.metrics.subsets import kinds_in_order, nested, subsets, viewpoints


def record(name, kind="move", changed=True, overlap=None):
    return pair_record(name, changed=changed, change_type=kind, viewpoint_iou=overlap)


def names(chosen):
    return {place: pairs.tolist() for place, pairs in chosen.items()}


def test_kinds_are_those_of_the_records_in_the_given_order_then_by_name():
    records = [record(str(i), kind) for i, kind in enumerate(["b", "z", "a", "z"])]
    records += [record("4", "none", False), record("5", None, None)]
    assert names(subsets(records, ("z", "never", "b"))) == {
        ("overall",): [0, 1, 2, 3, 4, 5],
        ("semantic",): [0, 1, 2, 3],
        ("distractor",): [4],
        ("types", "z"): [1, 3],
        ("types", "b"): [0],
        ("types", "a"): [2],
    }
    assert [path[-1] for path in subsets(records)][3:] == ["a", "b", "z"]


def test_viewpoints():
    """Bins of the overlap include their lower edge; the hardest quarter is of changed pairs only."""
    overlaps = [0.45, 0.3, 0.1, 0.55, 0.3, 1.0, 0.95, None]
    records = [record(str(i), overlap=x) for i, x in enumerate(overlaps)]
    records.append(record("8", "none", False, 0.05))
    chosen = subsets(records)
    assert names(viewpoints(chosen)) == {
        ("overlap", "hardest 25 %"): [2],
        ("overlap", "IoU 0.0-0.3"): [2],
        ("overlap", "IoU 0.3-0.4"): [1, 4],
        ("overlap", "IoU 0.4-0.5"): [0],
        ("overlap", "IoU 0.5-0.6"): [3],
        ("overlap", "IoU 0.7-1.0"): [5, 6],
    }


def test_of_equal_overlaps_the_earlier_counts_as_harder():
    records = [record(str(i), overlap=0.5) for i in range(11)]
    assert subsets(records)["overlap", "hardest 25 %"].tolist() == [0, 1]


@given(st.lists(st.floats(0, 1) | st.none(), max_size=40))
def test_each_changed_pair_of_known_overlap_is_in_one_bin(overlaps):
    chosen = subsets([record(str(i), overlap=x) for i, x in enumerate(overlaps)])
    binned = [i for path, pairs in chosen.items() if path[-1].startswith("IoU") for i in pairs]
    assert sorted(binned) == [i for i, x in enumerate(overlaps) if x is not None]


def test_places_become_nested_dicts():
    assert nested({("overall",): 1, ("types", "a"): 2, ("types", "b"): 3}) == {
        "overall": 1,
        "types": {"a": 2, "b": 3},
    }
    assert kinds_in_order([None, "none"], ("a",)) == []
