"""Select the paraphrases that can match between given sentences, few of METEOR's 5.3 million."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from whatchanged.evaluation.metrics.meteor.paraphrase_table import read_table

Paraphrases = dict[tuple[str, ...], list[tuple[str, ...]]]
"""A phrase -> its paraphrases, in the order of the table."""


@dataclass
class _Beginning:
    """A run of words that was looked up, and the runs that are one word longer."""

    continues: bool = True
    longer: dict[str, "_Beginning"] = field(default_factory=dict)


def read_paraphrases(path: Path, sentences: Iterable[Sequence[str]]) -> Paraphrases:
    """Read the entries whose phrase is in one of the sentences and whose paraphrase consists of their words.

    Raises MetricUnavailable where the file is not the table.
    """
    sentences = list(sentences)
    known = {word for sentence in sentences for word in sentence}
    table = read_table(path)
    looked_up = _Beginning()
    results: Paraphrases = {}
    for sentence in sentences:
        for start in range(len(sentence)):
            run = looked_up
            for end in range(start, len(sentence)):
                longer = run.longer.get(sentence[end])
                if longer is None:
                    phrase = tuple(sentence[start : end + 1])
                    group = table.group(" ".join(phrase))
                    longer = run.longer[sentence[end]] = _Beginning(group.continues)
                    own = [tuple(text.split(" ")) for text in group.paraphrases]
                    own = [paraphrase for paraphrase in own if known.issuperset(paraphrase)]
                    if own:
                        results[phrase] = own
                run = longer
                if not run.continues:
                    break
    return results
