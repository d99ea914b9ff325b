"""The command `garden`, which is `python -m garden` as well, in its first moments.

Loading what the command stands on takes a while, and Ctrl-C then needs no traceback: nothing has begun.
"""

import os
import signal


def main() -> None:
    """Load the command and run it."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        # Not by an exception, which whatever is being loaded may wrap in one of its own.
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from garden.surfaces.cli.main import main as run

    signal.signal(signal.SIGINT, before)
    run()


if __name__ == "__main__":
    main()
