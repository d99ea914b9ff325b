"""Counts, by system calls, the syncs of a contestant and of Postgres, and the round trips between them."""

import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import psutil

_CALL = re.compile(r'^(\d+) +(fsync|fdatasync|sendto)\((\d+)(?:, "((?:\\x[0-9a-f]{2})*)")?', re.MULTILINE)
# The messages that end a request: a simple query and a sync. Others are skipped by their length.
_ENDS = {b"Q", b"S"}
_MESSAGES = b"BCDEFHPQSXdcfp"


class Cost(NamedTuple):
    """Calls of one edit, on average; None where nothing talks to Postgres."""

    syncs: float
    postgres_syncs: float | None
    round_trips: float | None


def count(work: Callable[[], object], times: int, process: int, server: int) -> Cost | None:
    """Count over a few edits; where strace is missing or may not trace, there is no count."""
    if shutil.which("strace") is None:
        return None
    theirs = _family(server)
    with tempfile.NamedTemporaryFile() as trace:
        watched = [word for each in (*_family(process), *theirs) for word in ("-p", str(each))]
        command = ["strace", "-f", "-q", "-xx", "-s", "100000", "-e", "trace=fsync,fdatasync,sendto"]
        with subprocess.Popen(
            [*command, "-o", trace.name, *watched], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as tracer:
            if not _is_traced(process, tracer):
                tracer.kill()
                return None
            for _ in range(times):
                work()
            tracer.send_signal(signal.SIGINT)
        # A connection may have been opened meanwhile.
        theirs |= _family(server)
        calls = _CALL.findall(Path(trace.name).read_text())
    syncs = [int(pid) for pid, call, *_ in calls if call != "sendto"]
    trips = _round_trips([each for each in calls if each[1] == "sendto" and int(each[0]) not in theirs])
    own = sum(pid not in theirs for pid in syncs)
    talks = trips > 0
    return Cost(own / times, (len(syncs) - own) / times if talks else None, trips / times if talks else None)


def _family(parent: int) -> set[int]:
    return {parent, *(child.pid for child in psutil.Process(parent).children(recursive=True))}


def _is_traced(process: int, tracer: subprocess.Popen[bytes]) -> bool:
    status, until = Path("/proc", str(process), "status"), time.monotonic() + 10
    while "TracerPid:\t0" in status.read_text():
        if tracer.poll() is not None or time.monotonic() > until:
            return False
        time.sleep(0.01)
    # It attaches to one process after the other.
    time.sleep(0.3)
    return True


def _round_trips(sent: list[tuple[str, str, str, str]]) -> int:
    """Count requests in the streams that are Postgres's protocol; others begin with no such message."""
    streams: defaultdict[str, bytes] = defaultdict(bytes)
    for _, _, descriptor, data in sent:
        streams[descriptor] += bytes.fromhex(data.replace("\\x", ""))
    return sum(map(_requests, streams.values()))


def _requests(stream: bytes) -> int:
    found = 0
    while len(stream) >= 5:
        length = int.from_bytes(stream[1:5], "big")
        if stream[0] not in _MESSAGES or not 4 <= length <= len(stream):
            return 0
        found += stream[:1] in _ENDS
        stream = stream[1 + length :]
    return found
