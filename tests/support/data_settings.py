"""Recipes with other data."""

from dataclasses import replace


def with_data(recipe, **changes):
    return replace(recipe, data=replace(recipe.data, **changes))
