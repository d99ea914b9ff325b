"""The Model Context Protocol surface: it translates between the protocol and the toolbelt."""
