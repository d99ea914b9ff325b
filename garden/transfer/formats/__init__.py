"""Readers of what other programs export: one module a format, each yields entries and writes nothing."""
