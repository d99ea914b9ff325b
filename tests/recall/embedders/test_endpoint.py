import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar

import numpy as np
import pytest
from pydantic import SecretStr

from garden.home.settings import Recall
from garden.recall.embedders import EmbedderUnavailableError
from garden.recall.embedders.endpoint import EndpointEmbedder
from garden.recall.embedders.vectors import embed_each

_KEY = "sk-fictional-0123456789"
Reply = tuple[int, dict[str, str], str]


class Service(BaseHTTPRequestHandler):
    """Answers with the planned replies first; a status of 0 hangs up."""

    replies: ClassVar[list[Reply]] = []
    asked: ClassVar[list[tuple[str, str | None, list[str]]]] = []
    pauses: ClassVar[list[float]] = []

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert (request["model"], request["encoding_format"]) == ("tiny", "float")
        self.asked.append((self.path, self.headers["Authorization"], request["input"]))
        status, headers, body = self.replies.pop(0) if self.replies else (200, {}, vectors(request["input"]))
        if status:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())
        self.close_connection = not status

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def vectors(texts: list[str], size: int = 2) -> str:
    """The vector of "3" is (3, 4, ...); the last text comes first."""
    rows = [{"index": at, "embedding": [float(text), 4.0, 0.0][:size]} for at, text in enumerate(texts)]
    return json.dumps({"data": rows[::-1]})


def embedder_for(url: str) -> EndpointEmbedder:
    for used in (Service.replies, Service.asked, Service.pauses):
        used.clear()
    key = SecretStr(_KEY)
    recall = Recall(embedder="openai", base_url=SecretStr(url), api_key=key, model="tiny", dimensions=2)
    return EndpointEmbedder(recall, sleep=Service.pauses.append)


@pytest.fixture
def embedder() -> Iterator[EndpointEmbedder]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        Thread(target=server.serve_forever, args=(0.01,)).start()
        yield embedder_for(f"http://127.0.0.1:{server.server_port}/v1/")
        server.shutdown()


def test_texts_are_sent_in_batches_and_blank_ones_stay_here(embedder: EndpointEmbedder) -> None:
    rows = embedder.embed([str(number) + " " * 9000 if number % 3 else " " for number in range(150)])
    assert [len(texts) for _, _, texts in Service.asked] == [64, 36]
    assert {(path, key) for path, key, _ in Service.asked} == {("/v1/embeddings", f"Bearer {_KEY}")}
    assert {len(text) for _, _, texts in Service.asked for text in texts} == {4000}
    assert rows[4] == pytest.approx(np.array([4, 4]) / np.hypot(4, 4))
    assert not rows[3].any()
    assert re.fullmatch(r"tiny@127\.0\.0\.1:\d+/v1/2", embedder.name)


def test_a_failure_that_passes_is_asked_again_no_sooner_than_the_service_says(
    embedder: EndpointEmbedder,
) -> None:
    Service.replies[:] = [(429, {"Retry-After": "7"}, ""), (0, {}, ""), (503, {"Retry-After": "soon"}, "")]
    assert embedder.embed(["3", "4"])[0] == pytest.approx([0.6, 0.8])
    assert Service.pauses == [7, 2, 8]


def test_a_question_is_asked_once_since_someone_waits_for_its_answer(embedder: EndpointEmbedder) -> None:
    Service.replies[:] = [(503, {"Retry-After": "7"}, "")]
    with pytest.raises(EmbedderUnavailableError, match="HTTP 503"):
        embedder.embed(["3"])
    assert (len(Service.asked), Service.pauses) == (1, [])
    assert embedder.embed(["3"])[0] == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize(
    ("replies", "requests", "problem"),
    [
        ([(500, {}, "")] * 9, 4, "HTTP 500"),
        ([(0, {}, "")] * 9, 4, "RemoteProtocolError"),
        ([(429, {"Retry-After": "3600"}, "")] * 9, 1, "HTTP 429"),
        ([(400, {}, "")] * 9, 1, "HTTP 400"),
        ([(401, {}, f"Incorrect key {_KEY}")] * 9, 1, "HTTP 401"),
        ([(301, {"Location": "http://127.0.0.1:1/"}, "")] * 9, 1, "HTTP 301"),
    ],
)
def test_it_gives_up_in_the_end_and_at_once_where_waiting_does_not_help(
    embedder: EndpointEmbedder, replies: list[Reply], requests: int, problem: str
) -> None:
    Service.replies[:] = replies
    with pytest.raises(EmbedderUnavailableError, match=problem) as refusal:
        embedder.embed(["3", "4"])
    assert len(Service.asked) == requests
    shown = (
        f"{refusal.value!r} {refusal.value.hint} {refusal.value.__context__!r} {embedder!r} {embedder.name}"
    )
    assert _KEY not in shown


def test_a_refused_text_gets_zeros_unless_every_text_is_refused(embedder: EndpointEmbedder) -> None:
    well: Reply = (200, {}, vectors(["3"]))
    refused: Reply = (400, {}, "")
    Service.replies[:] = [(413, {}, ""), well, refused, well]
    assert embed_each(embedder, ["3", "4"]).round(1).tolist() == [pytest.approx([0.6, 0.8]), [0, 0]]
    assert [len(texts) for _, _, texts in Service.asked] == [2, 1, 1, 1]
    Service.replies[:] = [refused] * 3
    with pytest.raises(EmbedderUnavailableError, match="HTTP 400"):
        embed_each(embedder, ["3", "4"])


@pytest.mark.parametrize(
    "body",
    [
        vectors(["3"]),
        vectors(["3", "4", "5"]),
        vectors(["3", "4"], size=3),
        vectors(["3", "nan"]),
        vectors(["3", "4"]).replace('"index": 1', '"index": 0'),
        '{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1]}]}',
        '{"error": "no such model"}',
        '{"data": [1, 2]}',
        "<html>",
    ],
)
def test_an_answer_that_does_not_fit_is_refused(embedder: EndpointEmbedder, body: str) -> None:
    Service.replies[:] = [(200, {}, body)]
    with pytest.raises(EmbedderUnavailableError, match="vectors"):
        embedder.embed(["3", "4"])


def test_a_service_that_is_not_there_is_unavailable_and_its_password_stays_hidden() -> None:
    with pytest.raises(
        EmbedderUnavailableError, match=r"^The embeddings service 127.0.0.1:1/v1 failed: Conn"
    ):
        embedder_for("http://me:hunter2@127.0.0.1:1/v1").embed(["3", "4"])
    assert Service.pauses == [0.5, 2, 8]
