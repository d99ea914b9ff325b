"""Document kinds: the sections of a document, declared in TOML files; operators can add their own."""
