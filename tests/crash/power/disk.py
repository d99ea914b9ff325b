"""What a disk may hold after a power failure.

What a file system promises, and all that is assumed here:

- What a file held when it was synced is there. What was written to it since may be there, or be gone, or be
  cut short, or be zeroes or garbage of the full length.
- What happened to the names in a folder before that folder was synced has happened. What happened since has
  happened or not, each on its own and in no order.
- A new folder is a name in its parent, and all below it is lost with that name.
- A rename within one folder, and an exchange of two names, happens whole or not at all.
- A rename from one folder to another is two changes in one record of the journal. It may be there, or not,
  or the new name only: some file systems write the folder that was synced first, and find the old name again.
  Of its own accord a journal never keeps only that the old name has gone; but a sync of the old folder
  promises no more than that.
- What the database confirmed is there. A statement that it was sent and has not confirmed is there or not.

A file system without a journal may also lose both names of an unsynced rename between folders. No order of
calls prevents that for a rename; the text would still be in the account.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import product
from pathlib import Path

from tests.crash.power.effects import HOME, NAMING, ROOTS, USER, Effect, What

COMBINATIONS_MAX = 20_000


class Form(StrEnum):
    """How an unsynced effect or an unsynced file's content survives."""

    WHOLE = "whole"
    GONE = "gone"
    NEW_NAME_ONLY = "both names"
    OLD_NAME_GONE_ONLY = "neither name"
    HALF = "half"
    ZEROES = "zeroes"
    GARBAGE = "garbage"


_CONTENT_FORMS = (Form.WHOLE, Form.GONE, Form.HALF, Form.ZEROES, Form.GARBAGE)


@dataclass
class Image:
    """Files and folders by label; without a name they are not on the disk."""

    folders: dict[str, dict[str, str]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)

    def reachable(self) -> tuple[tuple[str, str, bytes | None], ...]:
        """Path, label and content of everything on the disk, in order."""
        return tuple(entry for root in ROOTS for entry in self._below(root, root))

    def _below(self, path: str, folder: str) -> Iterator[tuple[str, str, bytes | None]]:
        for name, label in sorted(self.folders.get(folder, {}).items()):
            yield f"{path}/{name}", label, self.files.get(label)
            if label not in self.files:
                yield from self._below(f"{path}/{name}", label)


Choice = tuple[tuple[int | str, Form], ...]
"""How each unsynced naming effect, by index, and each unsynced file, by label, survives."""


def choices(effects: Sequence[Effect]) -> Iterator[Choice]:
    """Yield every way in which the effects may survive."""
    free: list[tuple[int | str, tuple[Form, ...]]] = [
        *((index, forms) for index, forms in _name_forms(effects) if len(forms) > 1),
        *((label, _CONTENT_FORMS) for label in _unsynced_files(effects)),
    ]
    keys, forms = [key for key, _ in free], [each for _, each in free]
    for number, chosen in enumerate(product(*forms)):
        assert number < COMBINATIONS_MAX, "too many combinations: too few effects are synced"
        yield tuple(zip(keys, chosen, strict=True))


def image_of(base: Image, effects: Sequence[Effect], choice: Choice) -> Image:
    """Build the disk on which the effects survive in this form."""
    chosen = dict(choice)
    folders = {label: dict(names) for label, names in base.folders.items()}
    files = dict(base.files)
    surely = dict(_name_forms(effects))
    for index, effect in enumerate(effects):
        if effect.what is What.MAKE_FOLDER:
            folders[effect.node] = {}
        if effect.what in NAMING:
            _name(folders, effect, chosen.get(index, surely[index][0]))
    for label, synced, whole in _contents(effects):
        files[label] = _found(synced, whole, chosen.get(label, Form.WHOLE))
    return Image(folders, files)


def _name(folders: dict[str, dict[str, str]], effect: Effect, form: Form) -> None:
    if form is Form.GONE:
        return
    if effect.what is What.EXCHANGE:
        folders[effect.folder] |= {effect.name: effect.node, effect.old_name: effect.other}
        return
    removes = (
        (effect.folder, effect.name) if effect.what is What.UNLINK else (effect.old_folder, effect.old_name)
    )
    names = folders.get(removes[0], {})
    if form is not Form.NEW_NAME_ONLY and names.get(removes[1]) == effect.node:
        del names[removes[1]]
    if effect.what is not What.UNLINK and form is not Form.OLD_NAME_GONE_ONLY:
        folders[effect.folder][effect.name] = effect.node


def _name_forms(effects: Sequence[Effect]) -> Iterator[tuple[int, tuple[Form, ...]]]:
    """Yield how each naming effect may survive; whole comes first, where that is possible."""
    for index, effect in enumerate(effects):
        if effect.what not in NAMING:
            continue
        later = {each.node for each in effects[index:] if each.what is What.SYNC}
        there = effect.folder in later
        if effect.what is not What.RENAME or effect.old_folder == effect.folder:
            yield index, (Form.WHOLE,) if there else (Form.WHOLE, Form.GONE)
            continue
        match there, effect.old_folder in later:
            case True, True:
                yield index, (Form.WHOLE,)
            case True, False:
                yield index, (Form.WHOLE, Form.NEW_NAME_ONLY)
            case False, True:
                yield index, (Form.WHOLE, Form.OLD_NAME_GONE_ONLY)
            case _:
                yield index, (Form.WHOLE, Form.GONE, Form.NEW_NAME_ONLY)


def _unsynced_files(effects: Sequence[Effect]) -> list[str]:
    return [label for label, synced, whole in _contents(effects) if synced != whole]


def _contents(effects: Sequence[Effect]) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield for each new file its synced content and its written content."""
    for label in dict.fromkeys(effect.node for effect in effects if effect.what is What.CREATE):
        synced = whole = b""
        for effect in effects:
            if effect.node == label and effect.what is What.WRITE:
                whole += effect.data
            if effect.node == label and effect.what is What.SYNC:
                synced = whole
        yield label, synced, whole


def _found(synced: bytes, whole: bytes, form: Form) -> bytes:
    lost = len(whole) - len(synced)
    match form:
        case Form.GONE:
            return synced
        case Form.HALF:
            return whole[: len(synced) + lost // 2]
        case Form.ZEROES:
            return synced + bytes(lost)
        case Form.GARBAGE:
            return synced + b"garbage\xff" * (lost // 8) + b"?" * (lost % 8)
        case _:
            return whole


def scanned(home: Path, user: str) -> tuple[Image, dict[int, str]]:
    """Read a user's folders into an image, with their inode numbers."""
    image, labels = Image(), {home.stat().st_ino: HOME}
    for root in ROOTS:
        labels[(home / root).stat().st_ino] = root
        image.folders[root] = {}
        if (home / root / user).is_dir():
            label = f"{root}/{USER}"
            image.folders[root][USER] = label
            _scan(home / root / user, label, image, labels)
    return image, labels


def _scan(folder: Path, label: str, image: Image, labels: dict[int, str]) -> None:
    labels[folder.stat().st_ino] = label
    image.folders[label] = {}
    for number, path in enumerate(sorted(folder.iterdir())):
        # Names of copies hold ids, which differ between users.
        inner = labels.get(path.stat().st_ino) or f"{label}/{number}"
        image.folders[label][path.name] = inner
        if path.is_dir():
            _scan(path, inner, image, labels)
        else:
            labels[path.stat().st_ino] = inner
            image.files[inner] = path.read_bytes()


def put_on_disk(home: Path, user: str, image: Image) -> dict[int, str]:
    """Replace a user's folders with this image; return the inode numbers."""
    clear(home, user)
    labels = {home.stat().st_ino: HOME, **{(home / root).stat().st_ino: root for root in ROOTS}}
    first: dict[str, Path] = {}
    for text, label, content in image.reachable():
        root, _, rest = text.partition(f"/{USER}")
        path = home / f"{root}/{user}{rest}"
        if content is None:
            path.mkdir(0o700)
        elif label in first:
            path.hardlink_to(first[label])
        else:
            path.write_bytes(content)
            path.chmod(0o600)
            first[label] = path
        labels[path.stat().st_ino] = label
    return labels


def clear(home: Path, user: str) -> None:
    """Remove a user's folders."""
    for root in ROOTS:
        shutil.rmtree(home / root / user, ignore_errors=True)


def told(choice: Choice, effects: Sequence[Effect]) -> str:
    """Format how the effects survived."""
    return ", ".join(
        f"{effects[key] if isinstance(key, int) else f'content of {key}'}: {form}" for key, form in choice
    )


def named_alike(
    template: tuple[Image, Sequence[Effect]], own: tuple[Image, Sequence[Effect]]
) -> dict[tuple[str, str], str]:
    """Map the names of a template to those of another run; some names hold ids."""
    names = {
        (folder, theirs): ours
        for folder, inside in template[0].folders.items()
        for (theirs, _), (ours, _) in zip(
            sorted(inside.items()), sorted(own[0].folders.get(folder, {}).items()), strict=False
        )
    }
    return names | {
        (theirs.folder, theirs.name): ours.name for theirs, ours in zip(template[1], own[1], strict=False)
    }


def renamed(effect: Effect, names: Mapping[tuple[str, str], str], users: tuple[bytes, bytes]) -> Effect:
    """Give an effect of a template as it would have been in another run, of another user."""
    return replace(
        effect,
        name=names.get((effect.folder, effect.name), effect.name),
        old_name=names.get((effect.old_folder, effect.old_name), effect.old_name),
        data=effect.data.replace(*users),
    )


def same_shape(one: Sequence[Effect], other: Sequence[Effect]) -> Mapping[int, tuple[Effect, Effect]]:
    """Give the pairs in which two recordings of one request differ."""
    pairs = enumerate(zip(one, other, strict=False))
    return {index: pair for index, pair in pairs if pair[0].shape != pair[1].shape}
