"""Numbers with the nouns that they count. Imports nothing, so that every command may use it."""


def counted(count: int, noun: str) -> str:
    """A number and what it counts: "1 pair", "2,000 pairs"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
