"""One call of a tool in its own process, to which the kernel refuses calls, as `confined` does for files.

The garden is opened, and has done all sorts of work, before anything is refused: so its connections are
there, and a handle can be counted from the ones that the call opens itself.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from garden.application import open_garden
from garden.gateway.dispatcher import Envelope
from tests.support.confined import REPOSITORY, Refusal, become_nobody, refuse


def confined_call(
    home: Path,
    tool: str,
    args: Mapping[str, Any],
    *,
    before: Sequence[tuple[str, Mapping[str, Any]]] = (),
    refusals: Sequence[Refusal] = (),
    closed: Mapping[Path, int] | None = None,
) -> Envelope:
    """Call a tool as Ada's maintainer; with `closed`, under these modes as an unprivileged account."""
    request = {
        "home": str(home),
        "before": before,
        "call": (tool, args),
        "refusals": [asdict(each) for each in refusals],
        "closed": {str(path): mode for path, mode in closed.items()} if closed else None,
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.confined_tool"],
        cwd=REPOSITORY,
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    envelope: Envelope = json.loads(done.stdout)
    return envelope


def main() -> None:
    request = json.load(sys.stdin)
    with open_garden(request["home"]) as garden:
        session = garden.session("ada", "companion", role="maintainer")
        for tool, args in request["before"]:
            answer = session.call(tool, args)
            assert answer["ok"], answer
        if request["closed"]:
            for path, mode in request["closed"].items():
                Path(path).chmod(mode)
            become_nobody()
        refuse([Refusal(**each) for each in request["refusals"]])
        print(json.dumps(session.call(*request["call"])))


if __name__ == "__main__":
    main()
