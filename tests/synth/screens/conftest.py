"""Where pages can be drawn: Chromium, the npm packages, and fonts of every split."""

import os
from pathlib import Path

import pytest

from whatchanged.errors import MissingProgram


@pytest.fixture(scope="session")
def styles():
    """The folder of the npm packages; the test is skipped where something is not installed."""
    from whatchanged.synth.screens.browser import find_chromium
    from whatchanged.synth.screens.fonts import fonts_of
    from whatchanged.synth.screens.pages.designs import find_modules

    named = os.environ.get("WHATCHANGED_STYLES")
    try:
        find_chromium()
        for split in ("train", "val", "test"):
            fonts_of(split)
        return find_modules(Path(named) if named else None).parent
    except MissingProgram as error:
        pytest.skip(str(error))
