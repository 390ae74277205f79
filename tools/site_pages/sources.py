"""Says which files of the repository are pages of the site, and from which source each page is made."""

from pathlib import Path

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
