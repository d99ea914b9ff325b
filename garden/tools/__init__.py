"""The tools: each a declaration in one registry, from which every surface is made."""
