"""The option ``--model`` of the commands that caption single pairs."""

from whatchanged.cli.console import note


def answering(model: str | None, quiet: bool) -> str | None:
    """Return the model or the measurement that the option names; print a remark for a model of an earlier
    version.
    """
    if model is None:
        return None
    from whatchanged.answers.models import who_answers

    today, told = who_answers(model)
    if told:
        note(told, quiet)
    return str(today)
