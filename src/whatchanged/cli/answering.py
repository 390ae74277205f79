"""``--model`` of the commands that answer."""

from whatchanged.cli.console import note


def answering(model: str | None, quiet: bool) -> str | None:
    """Who answers where this was given; with a remark where it is a model of before."""
    if model is None:
        return None
    from whatchanged.answers.models import who_answers

    today, told = who_answers(model)
    if told:
        note(told, quiet)
    return str(today)
