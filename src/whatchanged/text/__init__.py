"""What is written in a place that changed: lines cut out, read by a recogniser, quoted where it is sure.

Nothing here is imported before text is asked for; the recogniser comes with the extra ``text``.
"""

from whatchanged.text.quotes import Quotes, read_quotes

__all__ = ["Quotes", "read_quotes"]
