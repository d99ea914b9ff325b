"""Events whose texts were written later than the files on the disk, as a disk that loses writes leaves them.

No program can give a file an older change time. So the events record later times instead.
"""

from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any

from garden.application import Garden
from garden.files.prepared_file import PreparedFile

_AHEAD = timedelta(hours=1)


class _WrittenLater(PreparedFile):
    @property
    def file_time(self) -> str:
        return (datetime.fromisoformat(super().file_time) + _AHEAD).isoformat()


def date_files_ahead(garden: Garden) -> None:
    """Record of every file that this garden writes that it was written an hour later."""
    files = garden.services.files
    prepare = files.prepare

    def prepare_ahead(*args: Any, **named: Any) -> PreparedFile:
        prepared = prepare(*args, **named)
        return _WrittenLater(**{each.name: getattr(prepared, each.name) for each in fields(prepared)})

    files.prepare = prepare_ahead  # type: ignore[method-assign]
