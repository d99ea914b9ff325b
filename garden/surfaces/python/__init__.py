"""The Python API: the tools as typed methods, and as coroutines."""
