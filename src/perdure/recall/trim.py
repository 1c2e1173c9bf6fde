"""Trimming: a recipe with some of its channels, or its cross-encoder, left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from perdure.errors import InvalidInput
from perdure.recall.recipe import Recipe


def trim_recipe(recipe: Recipe, without: Sequence[str], rerank: bool = True) -> Recipe:
    """The recipe without the named channels; without `rerank` no cross-encoder reads the candidates."""
    kept = tuple(channel for channel in recipe.channels if channel.name not in without)
    if not kept:
        raise InvalidInput("recipe", "at least one channel that is not switched off", recipe.name)
    if kept == recipe.channels and rerank:
        return recipe
    return replace(recipe, channels=kept, cross_pool=recipe.cross_pool if rerank else 0)
