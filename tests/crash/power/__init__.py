"""Power failures: unsynced effects are taken away again, in every way a disk could lose them.

`disk` says what a file system is assumed to promise; see also `python -m tests.crash.power --help`.
"""
