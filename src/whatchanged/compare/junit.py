"""Write ``junit.xml``: one test case for each pair, in the format that build servers read."""

import re
from xml.etree import ElementTree

from whatchanged.compare.comparison import Comparison
from whatchanged.compare.run import Outcome
from whatchanged.compare.words import ignored_of, looked_by, outcome_sentence

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML 1.0 does not allow."""


def junit(comparison: Comparison) -> bytes:
    """Return the document.

    Changed, added and removed pictures are failures. Pairs that were not compared are errors.
    """
    failures = sum(one.changed for one in comparison.outcomes)
    counts = {
        "tests": str(len(comparison.outcomes)),
        "failures": str(failures),
        "errors": str(len(comparison.failed)),
        "skipped": "0",
    }
    root = ElementTree.Element("testsuites", {"name": "whatchanged", **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": "whatchanged compare", **counts})
    properties = ElementTree.SubElement(suite, "properties")
    policy = {"name": "policy", "value": _text(looked_by(comparison))}
    ElementTree.SubElement(properties, "property", policy)
    for index, outcome in enumerate(comparison.outcomes):
        _case(suite, outcome, comparison.group_of.get(index))
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _case(suite: ElementTree.Element, outcome: Outcome, group: int | None) -> None:
    folder, _, name = outcome.pair.pair_id.rpartition("/")
    attributes = {"classname": _text(folder.replace("/", ".") or "pictures"), "name": _text(name)}
    case = ElementTree.SubElement(suite, "testcase", attributes)
    sentence = _text(outcome_sentence(outcome))
    if outcome.failed:
        ElementTree.SubElement(case, "error", {"message": sentence, "type": "not compared"})
    elif outcome.changed:
        kind = "changed" if outcome.answer is not None else outcome.pair.status
        failure = ElementTree.SubElement(case, "failure", {"message": sentence, "type": kind})
        failure.text = sentence if group is None else f"{sentence}\nGroup {group}."
    parts = [sentence] if outcome.noise or outcome.ignored else []
    if ignored_of(outcome) and outcome.answer is not None and outcome.answer.verdict != "identical":
        parts.append(ignored_of(outcome))
    if parts:
        ElementTree.SubElement(case, "system-out").text = " ".join(parts)


def _text(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
