"""Lint: findings about a document.

Rules examine a parsed document and report what blocks edits, exceeds a soft cap or departs from the house
style. The package imports `grammar` only and, like it, touches nothing outside its arguments.
"""
