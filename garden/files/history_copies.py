"""History copies: the versions of documents that an edit replaced, or that a snapshot kept."""

from garden.files.beneath import READ_FILE
from garden.files.errors import FileExistsAlreadyError, translate_os_errors
from garden.files.garden_folders import GardenFolders, check_place
from garden.files.paths import GardenPath, Place
from garden.files.plain_files import check_content, read_stable, renew_name, sync, write_new


class HistoryCopies:
    """Writes, confirms and removes copies; `PreparedFile.put` makes those that are hard links."""

    def __init__(self, folders: GardenFolders) -> None:
        self._folders = folders

    def write(self, copy: GardenPath, content: bytes) -> None:
        """Write a copy, durably; one that exists already must hold the same."""
        check_place(copy, Place.HISTORY_COPY)
        check_content(content)
        with translate_os_errors(), self._folders.open_ensured(copy.folder) as folder:
            try:
                write_new(folder, copy.name, content)
            except FileExistsError:
                self._check_same(copy, content)
            sync(folder, replaced=True)

    def confirm(self, copy: GardenPath) -> bool:
        """Bring the name of a copy to the disk; False if there is no such copy.

        The name is given anew: the kernel believes a failed fsync to have written it.
        """
        check_place(copy, Place.HISTORY_COPY)
        if not self._folders.exists(copy):
            return False
        with self._folders.open_folder(copy.folder) as folder:
            renew_name(folder, copy.name)
            sync(folder, replaced=True)
        return True

    def drop_link(self, copy: GardenPath) -> bool:
        """Remove a copy that is one file with its document: the write it was made for replaced nothing.

        Where links fail the copy is a file of its own; it goes if it holds the same as the document.
        """
        check_place(copy, Place.HISTORY_COPY)
        return self._folders.drop_duplicate(copy, copy.document, or_equal=True)

    def _check_same(self, copy: GardenPath, content: bytes) -> None:
        with self._folders.open(copy.text, READ_FILE) as handle:
            self._folders.check_file(handle, copy)
            if read_stable(handle)[0] != content:
                raise FileExistsAlreadyError
