"""The page: many pairs of pictures in one HTML file that a browser can open from a disk; see `page.py`."""

from whatchanged.page.page import Badge, Group, Page, Pair, Review, SystemSentence, Table
from whatchanged.page.write import render, write_page

__all__ = ["Badge", "Group", "Page", "Pair", "Review", "SystemSentence", "Table", "render", "write_page"]
