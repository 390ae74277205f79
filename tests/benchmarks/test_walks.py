"""Walks counted by hand."""

import sys

from benchmarks.walks import Call, Tracer, walk_of


def test_a_walk_through_three_files():
    """First in a, then down to b and c; back to a for the second function of b, from there no further."""
    deep = Call("c.py", "deep", [Call("c.py", "its_name_tells")])
    down = Call("b.py", "down", [deep])
    again = Call("b.py", "again", [Call("b.py", "its_name_tells_too")])
    walk = walk_of(Call("", "", [Call("a.py", "begin", [down, again, down])]))
    assert walk.steps == [
        (0, "a.py", "begin", False),
        (1, "b.py", "down", False),
        (2, "c.py", "deep", False),
        (1, "b.py", "again", True),  # read c, go back to a, which calls it
    ]
    assert (walk.files, walk.returns) == (3, 1)


def test_going_on_in_the_file_that_was_read_is_no_return():
    inner = Call("a.py", "inner", [Call("a.py", "its_name_tells")])
    outer = Call("a.py", "outer", [inner, Call("b.py", "last", [Call("b.py", "leaf")])])
    walk = walk_of(Call("", "", [outer]))
    assert (walk.files, walk.returns) == (2, 0)


def test_calls_are_followed_between_the_first_function_and_the_end_of_the_last(tmp_path):
    source = "def leaf(): ...\ndef last(): leaf()\ndef first(): [leaf() for _ in range(2)]; last()\n"
    file = tmp_path / "inside.py"
    file.write_text(source + "def around(): leaf(); first(); leaf()\n")
    inside, outside = {}, {"leaf": lambda: None}
    exec(compile(file.read_text(), str(file), "exec"), inside)
    tracer = Tracer(tmp_path, "first", "last")
    sys.setprofile(tracer)
    try:
        outside["leaf"]()
        inside["around"]()
    finally:
        sys.setprofile(None)
    (first,) = tracer.root.calls
    assert (first.file, first.name) == ("inside.py", "first")
    assert [call.name for call in first.calls] == ["leaf", "leaf", "last"]
    assert [call.name for call in first.calls[-1].calls] == ["leaf"]


def test_what_runs_at_import_is_no_call(tmp_path, monkeypatch):
    """A body of a class, and a function that is called as its module is imported, are read by nobody."""
    (tmp_path / "late_in_walk.py").write_text("def early(): ...\nclass Late:\n    early()\ndef leaf(): ...\n")
    file = tmp_path / "inside.py"
    file.write_text("def first():\n    import late_in_walk\n    late_in_walk.leaf()\n")
    monkeypatch.syspath_prepend(tmp_path)
    inside = {}
    exec(compile(file.read_text(), str(file), "exec"), inside)
    tracer = Tracer(tmp_path, "first", "first")
    sys.setprofile(tracer)
    try:
        inside["first"]()
    finally:
        sys.setprofile(None)
    (first,) = tracer.root.calls
    assert [call.name for call in first.calls] == ["leaf"]
