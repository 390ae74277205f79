import pytest

from whatchanged.errors import WhatchangedError, escaped, escaped_json, escaped_lines, printable

BREAKS = ("\n", "\r", "\r\n", "\x85", "\u2028", "\u2029", "\v", "\f", "\x1c")


@pytest.mark.parametrize("end", BREAKS)
def test_a_name_with_line_ends_is_printed_on_one_line(end):
    name = f"a{end}::add-mask::x.png"
    for shown in (
        escaped(name),
        printable(name),
        str(WhatchangedError(f"{name}: missing")),
        escaped_json(f'"{name}"'),
    ):
        assert len(shown.splitlines()) == 1 and "a\\" in shown and "::add-mask::x.png" in shown


def test_what_build_services_obey():
    assert escaped("::add-mask::x.png: a") == "\\x3a:add-mask::x.png: a"
    assert escaped("  ::x") == "  \\x3a:x"
    assert escaped("a ::x::, C::D, ##, # [a], ## [a]") == "a ::x::, C::D, ##, # [a], ## [a]"
    assert escaped("a ##[add-mask]b ##vso[task.x]c") == "a \\x23#[add-mask]b \\x23#vso[task.x]c"
    assert escaped("###[error]") == "#\\x23#[error]"
    assert escaped_json('"##[add-mask]"') == '"\\u0023#[add-mask]"'
    assert str(WhatchangedError("::x")) == "\\x3a:x"


def test_lines_of_our_own():
    assert escaped_lines("a\n::b\n\x1bc\tno") == "a\n\\x3a:b\n\\x1bc\tno"
    assert escaped_lines("") == ""
