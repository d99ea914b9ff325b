"""Start the command `garden` by forking a process that has already imported it.

A page types `garden` twenty times, and imports take most of each run. `launcher` starts one Python process
that imports every module of the package and then listens on a socket. For each command it forks a child
with the caller's arguments, environment, folder and streams, and the child runs `garden.__main__.main`.
"""

import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import garden
from garden.__main__ import main

_REPOSITORY = Path(__file__).parents[2]
_REQUEST_BYTES_MAX = 1024 * 1024


@contextmanager
def launcher(folder: Path) -> Iterator[str]:
    """Yield the shell command that runs `garden` in a forked process."""
    address = folder / f"launcher-{os.getpid()}"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.docs.launcher", address],
        cwd=_REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        client = Path(__file__).with_name("launcher_client.py")
        yield f'"{sys.executable}" -I -S "{client}" "{address}"'
    finally:
        process.communicate()
        address.unlink(missing_ok=True)


def serve(address: str) -> None:
    """Accept callers; return in each forked child that has to run a command."""
    for module in pkgutil.walk_packages(garden.__path__, "garden."):
        # An adapter imports its framework, which is installed elsewhere.
        if not module.name.endswith("__main__") and not module.name.startswith("garden.integrations."):
            importlib.import_module(module.name)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        # The end of standard input means that the tests are gone, even if they were killed.
        while listener in select.select([listener, sys.stdin], [], [])[0]:
            caller, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                break
            caller.close()
        else:
            sys.exit()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with caller:
        become_command(caller)


def become_command(caller: socket.socket) -> None:
    """Fork once more: the child takes the caller's streams, the parent reports its pid and exit status."""
    data, streams, _, _ = socket.recv_fds(caller, _REQUEST_BYTES_MAX, 3)
    while not data.endswith(b"\n"):
        data += caller.recv(_REQUEST_BYTES_MAX)
    pid = os.fork()
    if pid:
        for stream in streams:
            os.close(stream)
        caller.sendall(b"%d\n" % pid)
        _, status = os.waitpid(pid, 0)
        caller.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
        os._exit(0)
    request = json.loads(data)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["garden", *request["words"]]
    # The streams that Python opened at its start remember what kind of file they had.
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, errors="backslashreplace", closefd=False)  # noqa: SIM115


if __name__ == "__main__":
    serve(sys.argv[1])
    try:
        main()
    except SystemExit as end:
        # Taking hundreds of imported modules down again would cost more than the command itself.
        sys.stdout.flush()
        os._exit(end.code if isinstance(end.code, int) else bool(end.code))
