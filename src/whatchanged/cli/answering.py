"""The option ``--model`` of the commands that caption single pairs."""

from whatchanged.cli.console import note


def answering(model: str | None, quiet: bool) -> str | None:
    """Return the model or the measurement for the value of ``--model``.

    Print a remark if the model is from an earlier version.
    """
    if model is None:
        return None
    from whatchanged.answers.models import who_answers

    today, told = who_answers(model)
    if told:
        note(told, quiet)
    return str(today)
