"""What a page's HTML holds, for tests of every page."""

import json
from html.parser import HTMLParser

VOID = ("meta", "input", "img", "br")


class PageHtml(HTMLParser):
    """Tags with their attributes, texts, scripts, the rows of tables, and the data of the page's script.

    Fails where a tag does not close.
    """

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.scripts, self.rows, self.text = [], [], [], ""
        self._open = []
        self.feed(text)
        assert self._open == []
        self.data = json.loads(self.scripts[0])
        self.pairs = self.data["pairs"]

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        inside = self._open[-1] if self._open else ""
        if inside == "script":
            self.scripts.append(data)
        elif inside in ("th", "td"):
            self.rows[-1][-1] += data
        if inside not in ("script", "style"):
            self.text += data

    def named(self, tag):
        """The attributes of every such tag."""
        return [attributes for name, attributes in self.tags if name == tag]
