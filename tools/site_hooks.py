"""Hooks that MkDocs calls while it builds the site: generated pages, pages of the root, tables, links."""

import logging
import re
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from site_pages.links import Links
from site_pages.pages import generated_pages
from site_pages.results import with_tables
from site_pages.sources import MADE_FROM, ROOT, ROOT_PAGES

log = logging.getLogger("mkdocs.hooks.whatchanged")
"""A warning fails a strict build."""

NOTEBOOK_LINK = re.compile(r'(href="[^":]+)\.md(#[^"]*)?"')
"""A notebook's link to a page, which its converter leaves as it is."""

_links = Links(ROOT, ROOT_PAGES | MADE_FROM)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, those of the root, and the repository's files that pages link."""
    for place, content in generated_pages(log.warning).items():
        files.append(File.generated(config, place, content=content))
    for source, place in ROOT_PAGES.items():
        content = _finished((ROOT / source).read_text(encoding="utf-8"), source)
        files.append(File.generated(config, place, content=content))
    for page in files.documentation_pages():
        if page.src_uri.endswith(".md"):
            _finished(page.content_string, f"docs/{page.src_uri}")
    for place, path in _links.linked.items():
        content_of = path.read_bytes() if path.is_file() else _links.listing(path)
        files.append(File.generated(config, place, content=content_of))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Show the tables that only the site has, and let links lead to the site's copies of other files."""
    if page.file.src_uri in ROOT_PAGES.values():
        return markdown
    return _finished(markdown, f"docs/{page.file.src_uri}")


def _finished(markdown: str, source: str) -> str:
    """A page's text as the site shows it. source: its path in the repository."""
    return _links.rewrite(with_tables(markdown, source), source)


def on_page_content(html: str, page: Page, **_: Any) -> str:
    """Let a notebook's links to pages lead to them."""
    if not page.file.src_uri.endswith(".ipynb"):
        return html
    return NOTEBOOK_LINK.sub(r'\1.html\2"', html)
