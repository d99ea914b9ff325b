"""The HTTP surface: it translates between HTTP and the toolbelt."""
