"""Loads the Hypothesis profile before any property of lint is defined."""

import tests.support.hypothesis_profiles  # noqa: F401
