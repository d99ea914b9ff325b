"""HTTP, a surface: it translates between requests and the toolbelt."""
