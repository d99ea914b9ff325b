"""Recall: ranked search over the passages of a garden."""
