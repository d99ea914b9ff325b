"""The surfaces: they parse, call and show, and decide nothing."""
