"""Two pictures of the same thing in, one sentence out: what changed."""

from typing import TYPE_CHECKING, Any

from whatchanged.errors import WhatchangedError

if TYPE_CHECKING:
    from whatchanged.captioner.runtime import Captioner, Description, load

__version__ = "0.1.0"
__all__ = ["Captioner", "Description", "WhatchangedError", "__version__", "load"]


def __getattr__(name: str) -> Any:
    """Public names are resolved on first use, so that ``import whatchanged`` stays instant."""
    if name in ("Captioner", "Description", "load"):
        from whatchanged.captioner import runtime

        return getattr(runtime, name)
    raise AttributeError(f"module 'whatchanged' has no attribute {name!r}")
