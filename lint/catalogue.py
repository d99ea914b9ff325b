"""The catalogue: the rule of every module in `lint/rules`, ordered by id."""

import pkgutil
from importlib import import_module

from garden.lint import rules
from garden.lint.rule import Rule


def _load_rules() -> tuple[Rule, ...]:
    modules = pkgutil.iter_modules(rules.__path__, f"{rules.__name__}.")
    found: list[Rule] = [import_module(module.name).RULE for module in modules]
    return tuple(sorted(found, key=lambda rule: rule.id))


CATALOGUE: tuple[Rule, ...] = _load_rules()
