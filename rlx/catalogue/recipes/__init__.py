"""How an example of each code that no example manifest gives is made: files, and what is run."""

from rlx.catalogue.recipes import artifacts, decisions, errors, manifests
from rlx.catalogue.recipes.recipe import Recipe

RECIPES = {**errors.RECIPES, **manifests.RECIPES, **decisions.RECIPES, **artifacts.RECIPES}

__all__ = ["RECIPES", "Recipe"]
