"""The grammar of a garden: documents, sections, anchors, and edits from text to text.

The package is pure: no file, clock, database or network. Every result depends on the arguments alone.
"""
