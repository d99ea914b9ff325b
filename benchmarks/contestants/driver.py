"""Run one contestant in this process: commands come in as lines of JSON, and times are taken here.

    python driver.py MODULE.CLASS FOLDER DATABASE_URL

The contestant's own interpreter runs this file, so it imports nothing of the project.
"""

import importlib
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any


def main(name: str, folder: str, database: str) -> None:
    # A library may print; only answers go to the pipe.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    module, _, kind = name.partition(".")
    contestant = getattr(importlib.import_module(module), kind)(Path(folder), database)
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        answer = globals()[f"_{command.pop('do')}"](contestant, command)
        print(json.dumps(answer), file=answers, flush=True)
    # Background threads of a library may wait for ever.
    os._exit(0)


def _edit(contestant: Any, command: dict[str, str]) -> dict[str, float]:
    cpu, started = time.process_time(), time.perf_counter()
    contestant.edit(**command)
    took = time.perf_counter() - started
    return {"seconds": took, "cpu": time.process_time() - cpu}


def _read(contestant: Any, command: dict[str, str]) -> dict[str, Any]:
    started = time.perf_counter()
    text = contestant.read(**command)
    return {"seconds": time.perf_counter() - started, "text": text}


def _run(contestant: Any, command: dict[str, Any]) -> list[list[bool]]:
    """Make the edits of each lane one after the other, all lanes at once; say which were acknowledged."""

    def acknowledged(edit: dict[str, str]) -> bool:
        try:
            contestant.edit(**edit)
        except Exception:  # noqa: BLE001 - any refusal counts the same
            return False
        return True

    lanes = command["lanes"]
    with ThreadPoolExecutor(len(lanes)) as threads:
        return list(threads.map(lambda lane: list(map(acknowledged, lane)), lanes))


if __name__ == "__main__":
    main(*sys.argv[1:])
