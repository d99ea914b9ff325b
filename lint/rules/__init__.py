"""The rules, one module each; the docstring of the module documents its rule.

To add a rule, write its module here and its fixtures in `tests/lint/fixtures/<name>`. The catalogue finds it;
`make docs` writes its page, and `UPDATE_SNAPSHOTS=1 make test ARGS=tests/lint` writes the expected findings.
"""
