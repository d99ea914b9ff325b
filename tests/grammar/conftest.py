"""Loads the Hypothesis profile before any property of the grammar is defined."""

import tests.support.hypothesis_profiles  # noqa: F401
