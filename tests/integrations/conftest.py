"""Failures in the shared cases show their values."""

import pytest

pytest.register_assert_rewrite("tests.integrations.conformance")
