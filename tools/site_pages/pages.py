"""Lists the pages that are made, each with the function that makes it."""

from collections.abc import Callable

from site_pages.commands import commands_page
from site_pages.metrics import metrics_page
from site_pages.models import models_page
from site_pages.python_names import python_pages
from site_pages.recipe_keys import recipes_page


def generated_pages(warn: Callable[[str], None]) -> dict[str, str]:
    """Place on the site -> Markdown. What is not documented is told by ``warn``."""
    return {
        "start/models.md": models_page(),
        "reference/commands.md": commands_page(),
        "reference/recipes.md": recipes_page(warn),
        "reference/metrics.md": metrics_page(),
        **python_pages(warn),
    }
