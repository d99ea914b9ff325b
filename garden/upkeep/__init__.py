"""Upkeep of gardens: status, reconciliation, background jobs, the worker and the schedule."""
