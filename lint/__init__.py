"""Findings about a document.

Rules look at a parsed document and report what breaks a hard block, exceeds a soft cap or drifts from the
house form. Imports `grammar` only, and like it touches nothing outside its arguments.
"""
