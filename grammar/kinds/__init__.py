"""Document kinds: what a document is made of, declared in TOML files that an operator can add to."""
