"""One way to say that a duty is not kept."""


def require(kept: bool, what: str) -> None:
    """Raise AssertionError with ``what`` unless the duty is kept."""
    if not kept:
        raise AssertionError(what)
