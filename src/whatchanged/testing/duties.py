"""Turns a requirement of the methods' contract into a check whose error names the part of the contract."""

from collections.abc import Callable
from functools import wraps

from whatchanged.plugins import fault
from whatchanged.testing.method_case import MethodCase

MethodCheck = Callable[[MethodCase], None]
"""Raises AssertionError where a method does not meet a requirement."""
CONTRACT = "whatchanged.training.methods"
"""The module whose classes are the contract; the site shows it under "A method of your own"."""


def duty(*parts: str) -> Callable[[MethodCheck], MethodCheck]:
    """A check of these parts of the contract, such as "CaptionWriter.step".

    Every exception of the check becomes an AssertionError. Its message says what a method must do (the first
    sentence of the check's docstring), what went wrong, and where the contract describes it.
    """

    def decorate(check: MethodCheck) -> MethodCheck:
        wanted = " ".join((check.__doc__ or "").split("\n\n")[0].split()).rstrip(".")

        @wraps(check)
        def checked(case: MethodCase) -> None:
            try:
                check(case)
            except Exception as error:
                wrong = str(error) if isinstance(error, AssertionError) else f"it failed with {fault(error)}"
                raise AssertionError(
                    f"{case.settings.name} breaks the contract of methods: {wanted}.\n"
                    f"What went wrong: {wrong}\n"
                    f"Described by {', '.join(f'{CONTRACT}.{part}' for part in parts)}: the reference's page"
                    ' "A method of your own".'
                ) from error

        return checked

    return decorate
