"""Ask the launcher to run `garden` with this process's arguments, environment, folder and streams.

python -I -S launcher_client.py SOCKET [ARGUMENT ...]
"""

import json
import os
import signal
import socket
import sys
from pathlib import Path
from types import FrameType


def main() -> int:
    """Run the command, pass signals on to it, and return its exit status."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(sys.argv[1])
        request = {"words": sys.argv[2:], "folder": str(Path.cwd()), "environment": dict(os.environ)}
        data = json.dumps(request).encode() + b"\n"
        sent = socket.send_fds(server, [data], [0, 1, 2])
        server.sendall(data[sent:])
        answers = server.makefile("r")
        pid = int(answers.readline())

        def pass_on(number: int, _: FrameType | None) -> None:
            os.kill(pid, number)

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, pass_on)
        status = int(answers.readline())
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
