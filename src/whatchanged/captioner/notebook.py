"""The HTML by which a notebook shows an answer: its sentence, a line of facts, and a picture."""

import base64
import html
import io

from PIL import Image


def as_html(sentence: str, facts: str, picture: Image.Image | None) -> str:
    """Return HTML with the picture embedded."""
    shown = ""
    if picture is not None:
        shown = f'<br><img alt="before and after" style="max-width:100%" src="{_data_url(picture)}">'
    return f"<div><strong>{html.escape(sentence)}</strong><br>{html.escape(facts)}{shown}</div>"


def _data_url(picture: Image.Image) -> str:
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode("ascii")
