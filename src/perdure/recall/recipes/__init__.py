"""The recipes that have a name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from perdure.errors import InvalidInput
from perdure.recall.recipe import Recipe
from perdure.recall.recipes.abmind import ABMIND, AbmindScoring, Decay
from perdure.recall.recipes.default import DEFAULT, FAST
from perdure.recall.recipes.memoria import MEMORIA
from perdure.recall.recipes.tempr import TEMPR

__all__ = ["ABMIND", "DEFAULT", "FAST", "MEMORIA", "RECIPES", "TEMPR", "find_recipe", "named_recipes"]


def named_recipes(decay: Decay = Decay()) -> dict[str, Recipe]:
    """Name -> recipe; `decay` says how memories fade in abmind's scoring."""
    abmind = replace(ABMIND, scoring=AbmindScoring(decay))
    return {recipe.name: recipe for recipe in (DEFAULT, TEMPR, MEMORIA, abmind, FAST)}


RECIPES: Mapping[str, Recipe] = named_recipes()


def find_recipe(recipe: str | Recipe, recipes: Mapping[str, Recipe] = RECIPES) -> Recipe:
    """The recipe itself, or the one of that name."""
    if isinstance(recipe, Recipe):
        return recipe
    if recipe not in recipes:
        raise InvalidInput("recipe", "one of " + ", ".join(sorted(recipes)), recipe)
    return recipes[recipe]
