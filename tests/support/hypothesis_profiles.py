"""Hypothesis profiles: a small sample for `make test`, a hundred thousand examples for `make nightly`.

`GARDEN_HYPOTHESIS` selects the profile.
"""

import os

from hypothesis import HealthCheck, settings

_PROFILE = os.environ.get("GARDEN_HYPOTHESIS", "default")
_EXAMPLES = {"quick": 100, "default": 300, "nightly": 100_000}
_QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)

NIGHTLY = _PROFILE == "nightly"

for _name, _count in _EXAMPLES.items():
    settings.register_profile(_name, max_examples=_count, deadline=None, suppress_health_check=_QUIET)
settings.load_profile(_PROFILE)
