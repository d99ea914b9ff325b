"""Hypothesis profiles: a good sample by default, a hundred thousand documents for `nightly`."""

import os

from hypothesis import HealthCheck, settings

_QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)

settings.register_profile("default", max_examples=2_000, deadline=None, suppress_health_check=_QUIET)
settings.register_profile("quick", max_examples=100, deadline=None, suppress_health_check=_QUIET)
settings.register_profile("nightly", max_examples=100_000, deadline=None, suppress_health_check=_QUIET)
settings.load_profile(os.environ.get("GARDEN_HYPOTHESIS", "default"))
