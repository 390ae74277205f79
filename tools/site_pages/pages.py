"""Which pages are made, and by whom."""

from collections.abc import Callable
from pathlib import Path

from site_pages.commands import commands_page
from site_pages.metrics import metrics_page
from site_pages.models import models_page
from site_pages.python_names import python_pages
from site_pages.recipe_keys import recipes_page

ROOT = Path(__file__).parents[2]
"""The repository."""

ROOT_PAGES = {
    "RESULTS.md": "results.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "RELEASING.md": "releasing.md",
    "benchmarks/README.md": "benchmarks.md",
}
"""Markdown files outside docs/ that are pages of the site."""

MADE_FROM = {
    "src/whatchanged/models": "start/models.md",
    "src/whatchanged/cli": "reference/commands.md",
    "src/whatchanged/recipes": "reference/recipes.md",
    "src/whatchanged/evaluation/metrics": "reference/metrics.md",
    "src/whatchanged/__init__.py": "reference/python/describe.md",
    "src/whatchanged/training/methods/__init__.py": "reference/python/methods.md",
    "src/whatchanged/testing/__init__.py": "reference/python/plugins.md",
}
"""Source -> the page that is made from it. A link to the source leads there in a checkout, and to the page on
the site."""


def generated_pages(warn: Callable[[str], None]) -> dict[str, str]:
    """Place on the site -> Markdown. What is not documented is told by ``warn``."""
    return {
        "start/models.md": models_page(),
        "reference/commands.md": commands_page(),
        "reference/recipes.md": recipes_page(warn),
        "reference/metrics.md": metrics_page(),
        **python_pages(warn),
    }
