"""`/tlog/`: open to all, or not, and nothing but the files of the log."""

import pytest

from garden.history.checkpoints import make_checkpoints, published_note
from garden.history.log_check import check_log
from garden.history.notes import parse_checkpoint, parse_note
from garden.history.tiles import WIDTH, tile_path
from garden.home.folder import Home
from tests.support.served import Service, served


@pytest.mark.usefixtures("ada")
def test_the_log_is_served_without_a_token(service: Service) -> None:
    for _ in make_checkpoints(service.garden.services):
        pass
    with service.client(None) as stranger:
        answer = stranger.get("/tlog/checkpoint")
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert answer.headers["cache-control"] == "no-cache"
        note = parse_note(answer.content)
        assert note == published_note(service.garden.services)
        size = parse_checkpoint(note.text).size
        for level in ("entries", 0):
            path = tile_path(level, size // WIDTH, size % WIDTH)
            tile = stranger.get(f"/tlog/{path}")
            assert (tile.status_code, tile.headers["content-type"]) == (200, "application/octet-stream")
            assert tile.headers["cache-control"] == "public, max-age=31536000, immutable"
            assert tile.content == (service.garden.home.path / ".garden/tlog" / path).read_bytes()
        not_covered = service.garden.home.path / ".garden/tlog/tile/0/999"
        not_covered.write_bytes(b"left by a process that was killed")
        assert stranger.get("/tlog/tile/0/999").status_code == 404
        not_covered.unlink()
    faults = list(check_log(service.garden.services, f"{service.url}/tlog/checkpoint"))
    assert faults == []


@pytest.mark.parametrize(
    "path",
    [
        "lock", "", "tile/0/999", "tile/64/000", "tile/0/000.p/0", "tile/0/x000/000", "tile/0/../../../keys",
        "tile/0/%2e%2e/%2e%2e/%2e%2e/keys", "tile/entries/", "../v1/tools", "tile/%30/999",
        "tile/0//etc/passwd",
    ],
)  # fmt: skip
def test_nothing_else_is_served(service: Service, path: str) -> None:
    with service.client(None) as stranger:
        answer = stranger.get(f"/tlog/{path}")
    assert answer.status_code in {401, 404}
    assert answer.json()["error"]["message"]


def test_a_log_that_is_not_public_asks_for_a_token(ready_home: Home) -> None:
    file = ready_home.path / "garden.toml"
    file.write_text(f"{file.read_text()}[tlog]\npublic = false\n")
    with served(ready_home) as service, service.person() as ada:
        for _ in make_checkpoints(service.garden.services):
            pass
        with service.client(None) as stranger:
            assert stranger.get("/tlog/checkpoint").status_code == 401
        assert ada.client.get("/tlog/checkpoint").status_code == 200
