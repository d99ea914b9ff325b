"""A process that writes without end, a thread for each document, and says so: before, and when it is done.

    python -m tests.support.writer HOME NAME

It runs until it is killed.
"""

import json
import os
import sys
from itertools import count
from pathlib import Path
from threading import Thread

from garden.application import Garden, open_garden
from tests.support.crowd import Asked
from tests.support.planted import NOTES, PROFILE, ada, anchors_of, patching

THIRD = "users/ada/overview.md"
PATHS = (PROFILE, NOTES, THIRD)


def asked(path: str, name: str, number: int) -> Asked:
    """The call with this number, which can be sent again by its number."""
    said = f"{name} said {number};"
    key = f"{path} {said}"
    if path == NOTES and number % 3 == 1:
        return "fs.append", {"path": path, "text": said, "idempotencyKey": key}
    anchors = ["facts v1", "health v1"] if path == THIRD else anchors_of(path)
    return patching(path, anchors[number % len(anchors)], said, idempotencyKey=key)


def write_without_end(garden: Garden, path: str, name: str) -> None:
    session = ada(garden)
    for number in count():
        tell("asking", path, number)
        answer = session.call(*asked(path, name, number))
        tell("done" if answer["ok"] else json.dumps(answer), path, number)


def tell(what: str, path: str, number: int) -> None:
    # One write, so that threads can't mix their lines and a kill can't cut one.
    os.write(sys.stdout.fileno(), f"{json.dumps([what, path, number])}\n".encode())


def main(home: Path, name: str) -> None:
    with open_garden(home) as garden:
        threads = [Thread(target=write_without_end, args=(garden, path, name)) for path in PATHS]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
