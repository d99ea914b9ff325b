"""Entry point of the command `garden` and of `python -m garden`.

Loading the command takes a while. Ctrl-C exits without a traceback meanwhile, because nothing has begun.
"""

import os
import signal


def main() -> None:
    """Load the command and run it."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        # An exception would not do: a module that is loading may wrap it in its own.
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from garden.surfaces.cli.main import main as run

    signal.signal(signal.SIGINT, before)
    run()


if __name__ == "__main__":
    main()
