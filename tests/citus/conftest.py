"""Tests on a Citus cluster, where GARDEN_TEST_CITUS_URL names an empty database that has the extension."""

import os

CITUS = "GARDEN_TEST_CITUS_URL"
collect_ignore_glob = [] if os.environ.get(CITUS) else ["test_*.py"]
