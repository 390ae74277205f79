import errno
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest
from support.compared_screens import save, screen
from support.trees import state

from whatchanged.compare import accept as room
from whatchanged.compare.accept import LOG, carry_out, plan_decided, to_do
from whatchanged.compare.record import record_of
from whatchanged.errors import OutputError, WhatchangedError
from whatchanged.files import draft_of


def plan(comparison, wanted):
    return room.plan(record_of(comparison, "hash"), wanted)


GROUP = ["1", "04.png"]
"""The group of ``found``, and its odd member."""


def test_a_group_is_copied_over_its_old_pictures(found):
    copies = plan(found, GROUP)
    assert sorted(copy.target.name for copy in copies) == ["02.png", "03.png", "04.png", "05.png", "06.png"]
    untouched = found.matched.old / "faint.png"
    before = untouched.read_bytes()
    carry_out(copies)
    assert all(copy.target.read_bytes() == copy.source.read_bytes() for copy in copies)
    assert all(copy.target.parent == found.matched.old for copy in copies)
    assert untouched.read_bytes() == before and not list(found.matched.old.glob(".*"))


def test_who_may_read_an_old_picture_stays_so(found):
    private = found.matched.old / "02.png"
    private.chmod(0o600)
    carry_out(plan(found, ["02.png"]))
    assert private.stat().st_mode & 0o777 == 0o600


def test_what_a_killed_process_left_among_the_old_pictures_goes(found):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    draft = draft_of(found.matched.old / "03.png")
    left = draft.with_name(draft.name.replace(f"-{os.getpid()}.", f"-{dead.pid}."))
    left.write_bytes(b"half")
    carry_out(plan(found, ["02.png"]))
    assert not left.exists()


def test_files_by_name_an_added_one_gets_its_place(found):
    copies = plan(found, ["02.png", "new|*.png", "02.png"])
    carry_out(copies)
    assert len(copies) == 2
    assert (found.matched.old / "new|*.png").is_file()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("99", "no such group; there are 1"),
        ("no.png", "no pair has this name"),
        ("gone.png", "it was removed; delete the old picture"),
        ("is.png", "the same picture as was.png"),
        ("broken.png", "could not be compared"),
    ],
)
def test_what_cannot_be_accepted_stops_everything(found, name, message):
    old = {path.name: path.read_bytes() for path in found.matched.old.iterdir()}
    with pytest.raises(WhatchangedError, match=message):
        carry_out(plan(found, [*GROUP, name]))
    assert {path.name: path.read_bytes() for path in found.matched.old.iterdir()} == old


def test_copies_of_a_tool_are_not_accepted(found):
    copied = replace(found, matched=replace(found.matched, accepted="run: the tool"))
    with pytest.raises(WhatchangedError, match="run: the tool"):
        plan(copied, ["1"])


def test_a_picture_that_has_gone_is_told(found):
    copies = plan(found, GROUP)
    copies[2].source.unlink()
    with pytest.raises(OutputError, match=r"cannot be replaced .*; 2 of 5 were accepted before it"):
        carry_out(copies)


def test_a_full_disk_tells_how_many_were_accepted(found, monkeypatch):
    copies = plan(found, GROUP)
    copy_file = shutil.copyfile

    def full(source, draft):
        if source == copies[2].source:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return copy_file(source, draft)

    monkeypatch.setattr("whatchanged.compare.accept.shutil.copyfile", full)
    with pytest.raises(OutputError, match=r"No space left .*Make room.* 2 of 5 were accepted before it"):
        carry_out(copies)


def named(found, *names):
    """The comparison, its first outcomes called otherwise."""
    outcomes = list(found.outcomes)
    for index, name in enumerate(names):
        outcomes[index] = replace(outcomes[index], pair=replace(outcomes[index].pair, pair_id=name))
    return replace(found, outcomes=tuple(outcomes))


def test_a_name_that_means_a_group_and_a_pair_is_refused(found):
    with pytest.raises(WhatchangedError, match="both a group and a pair are called so"):
        plan(named(found, "1"), ["1"])
    with pytest.raises(WhatchangedError, match="no such group"):
        plan(found, ["9" * 5000])


def test_two_new_pictures_for_one_old_one_are_refused(found):
    group = found.groups[0]
    first, second = (found.outcomes[place] for place in group.members[:2])
    outcomes = list(found.outcomes)
    outcomes[group.members[1]] = replace(second, pair=replace(second.pair, before=first.pair.before))
    with pytest.raises(WhatchangedError, match="would both become"):
        plan(replace(found, outcomes=tuple(outcomes)), GROUP)


def test_an_added_picture_is_called_as_the_tool_calls_old_ones(found):
    tool = replace(found, matched=replace(found.matched, ending="-base"))
    (copy,) = plan(tool, ["new|*.png"])
    assert copy.target == found.matched.old / "new|*-base.png"


def test_an_old_picture_that_is_a_link_to_elsewhere_is_not_overwritten(found, tmp_path):
    """As one that whoever made the folder planted: a picture of the person's own."""
    old = found.matched.old
    (tmp_path / "victim").mkdir()
    (old / "02.png").rename(tmp_path / "victim" / "own.png")
    (old / "02.png").symlink_to("../victim/own.png")
    before = state(tmp_path)
    with pytest.raises(OutputError, match=r"02\.png: this is a link to .*own\.png"):
        carry_out(plan(found, GROUP))
    assert state(tmp_path) == before


def test_an_added_picture_goes_through_no_link(found, tmp_path):
    """A folder among the old pictures that is a link is not looked into; what would go there seems added."""
    (tmp_path / "victim").mkdir()
    (found.matched.old / "sub").symlink_to("../victim")
    pair = next(one for one in found.outcomes if one.pair.pair_id == "new|*.png")
    moved = replace(pair, pair=replace(pair.pair, pair_id="sub/profile.png"))
    with pytest.raises(OutputError, match=r"sub/profile\.png: its folder is a link that leads out of"):
        carry_out(plan(replace(found, outcomes=(moved,), groups=()), ["sub/profile.png"]))
    assert state(tmp_path / "victim") == {}


def test_a_pair_may_be_named_in_another_unicode_form(found):
    first = found.outcomes[2]
    spelled = replace(first, pair=replace(first.pair, pair_id="caf\u00e9.png"))
    one = replace(found, outcomes=(spelled,), groups=())
    assert plan(one, ["cafe\u0301.png"]) == plan(one, ["caf\u00e9.png"])
    twin = replace(first, pair=replace(first.pair, pair_id="cafe\u0301.png"))
    assert len(plan(replace(one, outcomes=(spelled, twin)), ["cafe\u0301.png"])) == 1


def test_a_link_that_was_left_out_is_not_replaced(found):
    added = next(one for one in found.outcomes if one.pair.status == "added")
    (found.matched.old / added.pair.pair_id).symlink_to("/dev/zero")
    with pytest.raises(WhatchangedError, match="is a link, which was left out"):
        plan(found, [added.pair.pair_id])


def test_a_group_with_odd_members_wants_them_named(found):
    for wanted in (["1"], ["1", "02.png"]):
        with pytest.raises(WhatchangedError, match=r"1 picture of this group shows more .*: 04\.png\. Look"):
            plan(found, wanted)
    assert len(plan(found, GROUP)) == len(plan(found, GROUP[::-1])) == 5


def test_what_was_accepted_before_is_left_as_it_is(found):
    copies = plan(found, GROUP)
    carry_out(copies[:2])
    assert to_do(copies) == copies[2:]
    carry_out(copies)
    assert to_do(copies) == []


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_picture_that_nobody_was_shown_is_neither_copied_nor_overwritten(found, side):
    copies = plan(found, GROUP)
    save(screen(19), getattr(copies[3], side))
    before = state(found.matched.old)
    with pytest.raises(OutputError, match=r"another picture than the one that was compared\. Compare again"):
        to_do(copies)
    getattr(copies[3], side).unlink()
    with pytest.raises(OutputError, match=r"another picture"):
        to_do(copies)
    save(screen(19), copies[3].source)  # replaced after it was looked at
    with pytest.raises(OutputError, match=r"another picture .* 0 of 1 were accepted before it"):
        carry_out([copies[3]])
    after = state(found.matched.old)
    assert {name: after.get(name) for name in before if name != copies[3].target.name} == {
        name: before[name] for name in before if name != copies[3].target.name
    }


def test_a_place_that_was_taken_since_is_not_overwritten(found):
    copies = plan(found, ["new|*.png"])
    save(screen(18), copies[0].target)
    with pytest.raises(OutputError, match=r"another picture"):
        to_do(copies)


def test_decided_pairs_are_taken_by_their_names_alone(found):
    """A pair may be called as a group is, and odd members were looked at one by one."""
    record = record_of(named(found, "00.png", "1"), "hash")
    assert [copy.pair_id for copy in plan_decided(record, ["04.png", "1"])] == ["04.png"]
    with pytest.raises(WhatchangedError, match=r"gone\.png: it was removed"):
        plan_decided(record, ["gone.png"])


def test_the_log_has_a_line_for_each_picture(found, tmp_path):
    report = tmp_path / "report"
    report.mkdir()
    carry_out(plan(found, ["02.png"]), report, "02.png")
    carry_out(plan(found, ["new|*.png"]), report, "decisions.json", ["03.png"])
    lines = [json.loads(line) for line in (report / LOG).read_text().splitlines()]
    told = [(line["id"], line["decision"], line["by"]) for line in lines]
    assert told == [
        ("02.png", "accepted", "02.png"),
        ("new|*.png", "accepted", "decisions.json"),
        ("03.png", "rejected", "decisions.json"),
    ]
    assert lines[0]["old"] == str(found.matched.old / "02.png") and lines[0]["was"] != lines[0]["became"]
    assert all(line["time"].endswith("+00:00") for line in lines)


@pytest.mark.parametrize("target", ["victim", "new", "folder"])
def test_a_log_that_is_no_file_of_its_own_stops_everything(found, tmp_path, target):
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / LOG).symlink_to(tmp_path / target)
    before = state(tmp_path)
    with pytest.raises(OutputError, match="no file of its own"):
        carry_out(plan(found, ["02.png"]), tmp_path / "report")
    assert state(tmp_path) == before
