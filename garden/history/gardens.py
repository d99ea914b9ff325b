"""All documents of a folder as they were at a time."""

from datetime import datetime
from typing import NamedTuple

from garden.events.reader import EventReader
from garden.events.version_texts import VersionTexts
from garden.events.versions import Version, VersionReader
from garden.files.paths import GardenPath
from garden.grammar.canonical import decoded

TEXT_BYTES_MAX = 256 * 1024


class GardenText(NamedTuple):
    """The documents, their texts under a line with each path, and those whose texts are left out."""

    documents: list[Version]
    text: str
    left_out: list[Version]


def garden_at(versions: VersionReader, reader: EventReader, folder: GardenPath, time: datetime) -> GardenText:
    """Show the documents below a folder at a time, as many as the text has room for."""
    documents = versions.garden_at(folder.user_id, folder.text, time)
    parts, left_out, size = list[str](), list[Version](), 0
    with reader.snapshot(folder.user_id) as snapshot:
        for each in documents:
            data = b"" if left_out else bytes(VersionTexts(snapshot, each.path).at(each.number))
            size += len(data)
            if left_out or size > TEXT_BYTES_MAX:
                left_out.append(each)
            else:
                parts.append(f"==> {each.path} <==\n{decoded(data)}")
    return GardenText(documents, "\n".join(parts), left_out)
