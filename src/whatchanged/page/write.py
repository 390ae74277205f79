"""Write a page as one HTML file: template, stylesheet, script, and the pairs as JSON.

The page loads only its pictures. Pictures are linked by relative path. A picture is loaded when it scrolls
into view. With ``embed``, the file contains the pictures, so that the file can be sent by mail.

Untrusted text cannot become markup. The JSON cannot end the HTML element that contains it, and the script
shows values as text. A content security policy allows only the page's own style and script, by their hashes.
"""

import base64
import hashlib
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from whatchanged.files import write_output
from whatchanged.page.data import page_data
from whatchanged.page.page import Page

HERE = Path(__file__).parent
SCRIPTS = ("elements.js", "pictures.js", "list.js", "review.js", "viewer.js")
"""The parts of the script. They are concatenated in this order."""


def write_page(path: Path, page: Page, embed: bool = False) -> None:
    """Write the page, completely or not at all.

    embed: whether to embed the pictures in the file instead of linking them.

    Raises OutputError if the file cannot be written or would be too large.
    """
    write_output(path, render(page, path.parent, embed))


def render(page: Page, folder: Path, embed: bool = False) -> str:
    """Return the HTML of a page in ``folder``."""
    style = (HERE / "style.css").read_text(encoding="utf-8")
    script = "\n".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS)
    policy = (
        f"default-src 'none'; img-src 'self' file: data:; style-src '{_hash(style)}'; "
        f"script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    return (
        _environment()
        .get_template("page.html")
        .render(
            page=page,
            policy=policy,
            style=Markup(style),
            script=Markup(script),
            data=page_data(page, folder, embed),
        )
    )


@cache
def _environment() -> Environment:
    """Return the template environment. It escapes all output, and unknown names are errors."""
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    return environment


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii")
