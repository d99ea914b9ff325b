"""The grammar of a garden: text in, text out.

What a document, a section, an anchor and an edit are, and what an edit makes of a text. Pure: no file, no
clock, no database, no network, so every answer depends on the arguments alone.
"""
