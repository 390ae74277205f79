"""The measured answer with the words that changed, where they can be read."""

from dataclasses import replace

from whatchanged.measured import Measured, Statement
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.rules import sentences
from whatchanged.text import read_quotes


def quoted(measured: Measured, before: Pixels, after: Pixels) -> Measured:
    """The answer in which each rewritten text is quoted that is read beyond doubt; nothing else is altered.

    Raises MissingExtra where the recogniser is not installed.
    """
    statements = tuple(_quoted(one, before, after) for one in measured.statements)
    # Of what did not change for sure the sentence says "perhaps": it stays as it is.
    if measured.verdict != "changed" or statements == measured.statements:
        return measured
    return replace(measured, statements=statements, sentence=sentences.together(statements))


def _quoted(statement: Statement, before: Pixels, after: Pixels) -> Statement:
    # Any other kind of change has no text of its own in both pictures.
    if statement.kind != "rewritten" or statement.box_before is None or statement.box_after is None:
        return statement
    found = read_quotes(before, after, statement.box_before, statement.box_after)
    if found is None:
        return statement
    return replace(
        statement,
        sentence=f'The text changed from "{found.before}" to "{found.after}".',
        values={**statement.values, "text_before": found.before, "text_after": found.after},
    )
