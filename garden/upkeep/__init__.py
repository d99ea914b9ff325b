"""What keeps gardens in order: status, reconciling, jobs, the worker and the schedule."""
