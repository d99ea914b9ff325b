"""Power failures: what was not brought to the disk is taken away again, in every way a disk could.

See docs in `disk` for what a file system is taken to promise, and `python -m tests.crash.power --help`.
"""
