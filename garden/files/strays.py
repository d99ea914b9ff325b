"""Strays: the temporary files that killed writers left, and those of writers without the lock."""

from collections.abc import Iterator
from contextlib import suppress

from garden.files.errors import FileMissingError
from garden.files.garden_folders import GardenFolders, OnUnlisted, check_place, skip_unlisted
from garden.files.paths import GardenPath, PathNotAllowedError, Place
from garden.files.plain_files import names_in, open_in, read_stable, stray_pattern, target_name


class Strays:
    """Finds and removes the strays of a home."""

    def __init__(self, folders: GardenFolders) -> None:
        self._folders = folders

    def documents(self, user_id: str, on_unlisted: OnUnlisted | None = None) -> Iterator[GardenPath]:
        """Find every document with a stray beside it or beside its copies."""
        for top in (f"users/{user_id}", f"history/{user_id}"):
            yield from dict.fromkeys(self._documents_below(GardenPath(top), on_unlisted))

    def remove(self, document: GardenPath) -> int:
        """Remove the strays of a document; the caller holds its lock."""
        check_place(document, Place.DOCUMENT)
        own = self._folders.remove(document.folder, stray_pattern(document.name))
        return own + self._folders.remove(document.history, stray_pattern())

    def texts(self, document: GardenPath) -> Iterator[str]:
        """Read the strays of a document, as far as they are text."""
        for folder, names in (
            (document.folder, stray_pattern(document.name)),
            (document.history, stray_pattern()),
        ):
            with suppress(FileMissingError), self._folders.open_folder(folder) as handle:
                for name in names_in(handle, names):
                    with suppress(FileNotFoundError), open_in(handle, name) as stray:
                        yield read_stable(stray)[0].decode("utf-8", "replace")

    def _documents_below(self, folder: GardenPath, on_unlisted: OnUnlisted | None) -> Iterator[GardenPath]:
        with skip_unlisted(folder, on_unlisted):
            for name in self._target_names(folder):
                with suppress(PathNotAllowedError):
                    yield folder.document if folder.document_name else GardenPath(f"{folder.text}/{name}")
            for path in self._folders.list_folder(folder):
                if path.is_folder:
                    yield from self._documents_below(path, on_unlisted)

    def _target_names(self, folder: GardenPath) -> list[str]:
        with self._folders.open_folder(folder) as handle:
            return [target_name(stray) for stray in names_in(handle, stray_pattern())]
