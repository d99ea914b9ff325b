"""The Model Context Protocol, a surface: it translates between the protocol and the toolbelt."""
