"""Witnesses: the policy, and what a witness that follows the protocol is asked and answers."""

import base64
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from garden.application import Garden
from garden.history.checkpoints import log_folder, log_signers, publish_cosigned, published_note
from garden.history.notes import COSIGNATURE, ML_DSA_44, NoteError, Signer, holding, make_signer, parse_note
from garden.history.tiles import Tiles
from garden.history.witnesses import PolicyError, cosign, parse_policy
from tests.history import rfc6962
from tests.history.conftest import faults, logged
from tests.support.accounts import Account


class OwnWitness:
    """A witness of one log, which knows the size of the tree that it signed last."""

    def __init__(self, name: str, kind: int, garden: Garden) -> None:
        made = make_signer(kind, name, name.encode().ljust(32))
        assert made is not None
        self.signer: Signer = made
        self.garden, self.size, self.asked = garden, 0, 0
        self.lies = False
        self.seen: bytes | None = None
        self.times = 1

    def answer(self, body: bytes) -> tuple[int, bytes]:
        self.asked += 1
        head, _, content = body.decode().partition("\n\n")
        old, *proof = head.split("\n")
        note = parse_note(content.encode())
        assert holding(note, [each.public for each in log_signers(self.garden.services)])
        size, root = int(note.text.split("\n")[1]), base64.b64decode(note.text.split("\n")[2])
        if self.seen is not None or int(old.removeprefix("old ")) != self.size:
            return 409, self.seen or b"%d\n" % self.size
        tiles = Tiles(log_folder(self.garden.services), size)
        leaves = [tiles.entry(index) for index in range(size)]
        wanted = rfc6962.consistency(self.size, leaves) if self.size else []
        if [base64.b64decode(line) for line in proof] != wanted or root != rfc6962.root(leaves):
            return 422, b""
        self.size = size
        text = "another\n1\n" + "A" * 43 + "=\n" if self.lies else note.text
        return 200, "".join(str(self.signer.sign(text)) for _ in range(self.times)).encode()


@contextmanager
def serving(witness: OwnWitness) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/w/add-checkpoint"
            status, body = witness.answer(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/w"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def near(garden: Garden) -> OwnWitness:
    return OwnWitness("example.com/near", COSIGNATURE, garden)


@pytest.fixture
def far(garden: Garden) -> OwnWitness:
    return OwnWitness("example.com/far", ML_DSA_44, garden)


@pytest.fixture
def policy(garden: Garden, near: OwnWitness, far: OwnWitness) -> Iterator[Path]:
    """A policy that needs both witnesses, both of which are served."""
    with serving(near) as first, serving(far) as second:
        file = garden.home.path / "policy"
        file.write_text(
            f"# two of two\nwitness near {near.signer.public} {first}\n"
            f"witness far {far.signer.public} {second}\ngroup both all near far\nquorum both\n"
        )
        set_policy(garden, file)
        yield file


def set_policy(garden: Garden, file: Path) -> None:
    garden.services.tlog = garden.services.tlog.model_copy(update={"policy": file})


def cosigners(garden: Garden, *witnesses: OwnWitness) -> list[str]:
    note = published_note(garden.services)
    assert note is not None
    return [each.name for each in holding(note, [witness.signer.public for witness in witnesses])]


def outcome(garden: Garden) -> tuple[bool, tuple[str, ...]]:
    done = cosign(garden.services)
    assert done is not None
    return done.is_reached, done.problems


@pytest.mark.usefixtures("policy")
def test_witnesses_cosign_each_checkpoint_from_the_size_that_they_know(
    garden: Garden, account: Account, near: OwnWitness, far: OwnWitness
) -> None:
    for text in ("three\n", "four\n"):
        logged(garden)
        assert outcome(garden) == (True, ())
        assert cosigners(garden, near, far) == ["example.com/near", "example.com/far"]
        account.edit(text)
    assert (near.size, near.asked, far.asked) == (8, 3, 3)
    assert outcome(garden) == (True, ())
    assert near.asked == 3
    assert faults(garden) == []


@pytest.mark.usefixtures("policy")
def test_a_witness_that_is_silent_or_lies_leaves_the_checkpoint_without_quorum(
    garden: Garden, account: Account, near: OwnWitness, far: OwnWitness, policy: Path
) -> None:
    far.lies = True
    logged(garden)
    assert outcome(garden) == (False, ("far: Its cosignature does not hold.",))
    assert cosigners(garden, near, far) == ["example.com/near"]
    far.lies = False
    assert outcome(garden) == (True, ())
    account.edit("three\n")
    logged(garden)
    policy.write_text(policy.read_text().replace("/w\n", "/w:\n").replace("127.0.0.1", "127.0.0.1:1", 1))
    reached, [problem, _] = outcome(garden)
    assert not reached
    assert problem.startswith("near: http://127.0.0.1:1")


def test_signatures_that_come_late_do_not_put_an_older_checkpoint_back(
    garden: Garden, account: Account, near: OwnWitness
) -> None:
    logged(garden)
    older = published_note(garden.services)
    assert older is not None
    account.edit("three\n")
    logged(garden)
    publish_cosigned(garden.services, older.with_line(near.signer.sign(older.text)))
    newest = published_note(garden.services)
    assert newest is not None
    assert newest.text.split("\n")[1] == "8"


@pytest.mark.usefixtures("account")
def test_a_witness_that_has_seen_more_is_a_problem(garden: Garden, near: OwnWitness, policy: Path) -> None:
    near.size = 100
    logged(garden)
    assert outcome(garden) == (False, ("near: It has seen '100' entries.",))
    assert policy.exists()


@pytest.mark.usefixtures("account", "policy")
def test_an_endless_number_is_a_problem_of_its_witness_alone(
    garden: Garden, near: OwnWitness, far: OwnWitness
) -> None:
    near.seen = b"1" * 5000
    logged(garden)
    reached, [problem] = outcome(garden)
    assert (reached, problem[:17]) == (False, "near: It has seen")
    assert cosigners(garden, near, far) == ["example.com/far"]


@pytest.mark.usefixtures("account", "policy")
def test_one_signature_is_taken_of_a_witness_that_sends_many(
    garden: Garden, near: OwnWitness, far: OwnWitness
) -> None:
    far.times = 100
    logged(garden)
    assert outcome(garden) == (True, ())
    assert cosigners(garden, near, far) == ["example.com/near", "example.com/far"]


def test_without_a_policy_nothing_is_asked(garden: Garden) -> None:
    logged(garden)
    assert cosign(garden.services) is None
    set_policy(garden, Path("missing"))
    with pytest.raises(PolicyError, match="can't be read"):
        cosign(garden.services)


def test_groups_count_their_members(near: OwnWitness, far: OwnWitness) -> None:
    keys = f"witness a {near.signer.public}\nwitness b {far.signer.public}\n"
    note = parse_note(("example.com/l\n1\n" + "A" * 43 + "=\n\n").encode() + b"\xe2\x80\x94 x AAAAAAAA\n")
    signed = note.with_line(near.signer.sign(note.text))
    for group, is_reached in {"group g any a b": True, "group g 1 a b": True, "group g 2 a b": False}.items():
        assert parse_policy(f"{keys}{group}\nquorum g\n").is_reached(signed) is is_reached
    nested = parse_policy(f"{keys}group g any a b\ngroup h all g\n quorum\th \n")
    assert (nested.is_reached(signed), nested.is_reached(note)) == (True, False)
    assert parse_policy("quorum none\n").is_reached(note)


@pytest.mark.parametrize(
    "text",
    [
        "", "quorum a", "quorum none\nquorum none", "witness a", "group g all a", "witness a x", "else a b",
        "witness none KEY", "witness a KEY\nwitness a KEY", "witness a KEY\nwitness b KEY",
        "witness a KEY\ngroup g 2 a", "witness a KEY\ngroup g 0 a", "witness a KEY\ngroup g all a a",
    ],
)  # fmt: skip
def test_a_malformed_policy_is_refused(near: OwnWitness, text: str) -> None:
    with pytest.raises((PolicyError, NoteError)):
        parse_policy(
            text.replace("KEY", str(near.signer.public))
            + "\nquorum none" * ("quorum" not in text and text != "")
        )
