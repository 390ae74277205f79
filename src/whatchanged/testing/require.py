"""Raises the error of a conformance suite when a requirement is not met."""


def require(kept: bool, what: str) -> None:
    """Raise AssertionError with ``what`` unless the requirement is met."""
    if not kept:
        raise AssertionError(what)
