"""Witnesses: other machines that sign a checkpoint once they have seen that the log only grew.

A policy in C2SP's tlog-policy format names them, and how many of them a checkpoint needs. They are asked in
C2SP's tlog-witness protocol. Without a policy nothing is asked.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass

from garden.grammar.errors import GardenError
from garden.history.checkpoints import log_folder, publish_cosigned, published_note, verified_checkpoint
from garden.history.fetching import request
from garden.history.merkle import consistency_proof
from garden.history.notes import ED25519, Note, SignatureLine, VerifierKey, holding, parse_signature
from garden.history.tiles import Tiles
from garden.writing.services import Services

_NONE = "none"
_DIGITS_MAX = 20
_FORMS = {"log": (1, 2), "witness": (2, 3), "group": (3, 40), "quorum": (1, 1)}


class PolicyError(GardenError):
    """The policy of witnesses can't be read."""

    code = "invalid_input"


class WitnessError(GardenError):
    """A witness gives no cosignature."""

    code = "unavailable"


@dataclass(frozen=True)
class Witness:
    """A witness's key, and its address if it is to be asked."""

    key: VerifierKey
    url: str | None


@dataclass(frozen=True)
class Policy:
    """The witnesses by name, the groups with how many members each needs, and the name that decides."""

    witnesses: Mapping[str, Witness]
    groups: Mapping[str, tuple[int, tuple[str, ...]]]
    quorum: str

    def is_reached(self, note: Note) -> bool:
        """Whether enough witnesses have signed a note."""
        signed = set(holding(note, [each.key for each in self.witnesses.values()]))
        return self.quorum == _NONE or self._is_witnessed(self.quorum, signed)

    def _is_witnessed(self, name: str, signed: set[VerifierKey]) -> bool:
        if name in self.witnesses:
            return self.witnesses[name].key in signed
        needed, members = self.groups[name]
        return sum(self._is_witnessed(each, signed) for each in members) >= needed


@dataclass(frozen=True)
class Cosigning:
    """Whether the policy is satisfied, and why witnesses did not sign."""

    is_reached: bool
    problems: tuple[str, ...]


def parse_policy(text: str) -> Policy:
    """Read a policy; each line may name only what stands above it."""
    witnesses: dict[str, Witness] = {}
    groups: dict[str, tuple[int, tuple[str, ...]]] = {}
    members: set[str] = set()
    quorum: str | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        kind, *words = line.split() or ["#"]
        if kind.startswith("#"):
            continue
        least, most = _FORMS.get(kind, (0, -1))
        try:
            if not least <= len(words) <= most:
                raise ValueError("it is not a line of a policy")
            if kind == "log":
                VerifierKey.parse(words[0])
            elif kind == "quorum":
                quorum = _only_one(quorum, words[0], {*witnesses, *groups, _NONE})
            else:
                _refuse_known(words[0], {*witnesses, *groups, _NONE})
                if kind == "witness":
                    witnesses[words[0]] = _witness(words, witnesses)
                else:
                    groups[words[0]] = _group(words, {*witnesses, *groups}, members)
        except (ValueError, GardenError) as error:
            reason = error.message if isinstance(error, GardenError) else f"{error}."
            raise PolicyError(f"Line {number} of the policy: {reason}", hint=_HINT) from None
    if quorum is None:
        raise PolicyError("The policy has no quorum.", hint=_HINT)
    return Policy(witnesses, groups, quorum)


def read_policy(services: Services) -> Policy | None:
    """The policy that the settings name, if they name one."""
    if services.tlog.policy is None:
        return None
    try:
        return parse_policy((services.home.path / services.tlog.policy.expanduser()).read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        raise PolicyError(
            f"The policy {services.tlog.policy} can't be read.", hint="Name a file with GARDEN_TLOG_POLICY."
        ) from None


def cosign(services: Services) -> Cosigning | None:
    """Ask the witnesses that have not signed the newest checkpoint, and publish it with their signatures."""
    policy, note = read_policy(services), published_note(services)
    if policy is None or note is None:
        return None
    tiles = Tiles(log_folder(services), verified_checkpoint(services, note).size)
    problems, asked = [], note
    for name, witness in policy.witnesses.items():
        if witness.url is not None and not any(map(witness.key.is_of, note.signatures)):
            try:
                note = note.with_line(_ask(witness, asked, tiles))
            except GardenError as error:
                problems.append(f"{name}: {error.message}")
    if note != asked:
        publish_cosigned(services, note)
    return Cosigning(policy.is_reached(note), tuple(problems))


def _ask(witness: Witness, note: Note, tiles: Tiles) -> SignatureLine:
    """Ask one witness; one that has seen the log before names the size from which it wants a proof."""
    url = f"{(witness.url or '').rstrip('/')}/add-checkpoint"
    answer = request("POST", url, _body(note, tiles, 0))
    if answer.status == 409:
        known = answer.body[:_DIGITS_MAX].strip()
        if not known.isdigit() or int(known) > tiles.size:
            raise WitnessError(f"It has seen {known.decode(errors='replace')!r} entries.", hint=_DAMAGED)
        answer = request("POST", url, _body(note, tiles, int(known)))
    if answer.status != 200:
        raise WitnessError(f"It answers {answer.status}.", hint="Ask the operator of the witness.")
    lines = [parse_signature(line) for line in answer.body.decode(errors="replace").splitlines()]
    for line in lines:
        if witness.key.holds(line, note.text):
            return line
    raise WitnessError("Its cosignature does not hold.", hint="Compare its key with that in the policy.")


def _body(note: Note, tiles: Tiles, known: int) -> bytes:
    hashes = consistency_proof(tiles.subtree, known, tiles.size)
    lines = [f"old {known}", *(base64.b64encode(each).decode() for each in hashes), "", str(note)]
    return "\n".join(lines).encode()


def _witness(words: list[str], known: Mapping[str, Witness]) -> Witness:
    key = VerifierKey.parse(words[1])
    if key.kind == ED25519 or key.key in (each.key.key for each in known.values()):
        raise ValueError("the key is not one of a witness, or is there twice")
    return Witness(key, words[2] if len(words) == 3 else None)


def _group(words: list[str], known: set[str], members: set[str]) -> tuple[int, tuple[str, ...]]:
    _, needed, *names = words
    for name in names:
        if name not in known or name in members:
            raise ValueError(f"{name!r} is not known above, or is a member twice")
        members.add(name)
    count = {"all": len(names), "any": 1}.get(needed) or (int(needed) if needed.isdigit() else 0)
    if not 1 <= count <= len(names):
        raise ValueError(f"{needed!r} is not 'all', 'any' or a number of its members")
    return count, tuple(names)


def _refuse_known(name: str, known: set[str]) -> None:
    if name in known:
        raise ValueError(f"{name!r} is there twice")


def _only_one(quorum: str | None, name: str, known: set[str]) -> str:
    if quorum is not None or name not in known:
        raise ValueError("the quorum is one name, and is known above")
    return name


_HINT = "Its lines read: log KEY, witness NAME KEY URL, group NAME all|any|NUMBER MEMBERS, quorum NAME."
_DAMAGED = (
    "A witness that has seen more than the log has shows that entries were cut off: run 'garden verify'."
)
