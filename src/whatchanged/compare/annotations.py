"""Messages that GitHub shows beside a pull request: workflow commands on standard output.

GitHub shows at most ten errors for each step. The order is therefore: failures, then groups, then single
files. If there are more messages, the last line gives their number.
"""

from collections.abc import Iterator
from pathlib import Path

from whatchanged.compare.comparison import Comparison
from whatchanged.compare.pairs import PairToCompare
from whatchanged.compare.words import group_sentence, outcome_sentence
from whatchanged.errors import escaped_lines

MOST = 10


def github_annotations(comparison: Comparison) -> list[str]:
    """Return the lines, at most ``MOST``."""
    messages = list(_messages(comparison))
    if len(messages) > MOST:
        left = len(messages) - MOST + 1
        messages = [
            *messages[: MOST - 1],
            ("", "More changes", f"{left:,} more; see summary.md and index.html."),
        ]
    return [_line(*message) for message in messages]


def _messages(comparison: Comparison) -> Iterator[tuple[str, str, str]]:
    """Yield the (file, title, text) of each message, the most urgent first."""
    for one in comparison.failed:
        yield _file(one.pair), "Picture not compared", one.error
    for group in comparison.groups:
        if group.changed:
            first = comparison.outcomes[group.members[0]].pair
            yield _file(first), f"Pictures changed: group {group.number}", group_sentence(comparison, group)
    for index, one in enumerate(comparison.outcomes):
        if one.changed and index not in comparison.group_of:
            title = "Picture changed" if one.answer is not None else f"Picture {one.pair.status}"
            yield _file(one.pair), title, outcome_sentence(one)


def _file(pair: PairToCompare) -> str:
    """Return the path of the picture relative to the working directory.

    If the picture is outside, return the name of the pair.
    """
    path = (pair.after or pair.before or Path(pair.pair_id)).absolute()
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else pair.pair_id


def _line(file: str, title: str, text: str) -> str:
    """Return one workflow command with its values escaped for GitHub."""
    properties = f"file={_property(file)}," if file else ""
    return f"::error {properties}title={_property(title)}::{_value(text)}"


def _value(text: str) -> str:
    return escaped_lines(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _value(text).replace(":", "%3A").replace(",", "%2C")
