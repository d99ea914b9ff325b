"""Writers that go away in the middle of a change, as a kill would make them."""

import pytest

from garden.application import Garden
from garden.events.stream import LockedStream
from garden.files.prepared_file import PreparedFile
from tests.support.gardens import addition


class _GoneError(BaseException):
    pass


def leave_open(garden: Garden, path: str, text: str, *, written: bool = False) -> None:
    """Let a writer append to a document, and go away before the file is written, or right after."""

    def gone(*_: object, **__: object) -> None:
        raise _GoneError

    with pytest.MonkeyPatch.context() as patched:
        owner: type = LockedStream if written else PreparedFile
        patched.setattr(owner, "finish" if written else "put", gone)
        with pytest.raises(_GoneError):
            garden.session(path.split("/")[1]).call(*addition(path, text))
