"""LangGraph's store: the shared cases, and what its operations give back."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from garden.application import Garden
from garden.grammar.errors import GardenError
from garden.integrations import langgraph
from garden.integrations.langgraph import GardenStore
from tests.integrations.conformance import USER, Conformance, Driver, waited

NAMES = ("diary", "lamps")


class StoreDriver(Driver):
    actor = "langgraph"

    def __init__(self, home: Path, user: str = USER) -> None:
        self.store = GardenStore(user, home=home)

    def remember(self, text: str) -> None:
        self.store.put(NAMES, text, {"text": text})

    def recalled(self, query: str) -> str:
        return "\n".join(item.value["text"] for item in self.store.search(("diary",), query=query))

    def replace(self, old: str, new: str) -> None:
        self.store.put(NAMES, old, {"text": new})

    def refused(self) -> str:
        with pytest.raises(GardenError) as refused:
            self.store.put(NAMES, "large", {"text": "x" * 2**21})
        return f"{refused.value.message} {refused.value.hint}"

    def resend(self, text: str) -> None:
        for _ in range(2):
            self.remember(text)

    def close(self) -> None:
        self.store.close()


class TestStore(Conformance):
    driver = StoreDriver


@pytest.fixture
def store(garden: Garden) -> Iterator[GardenStore]:
    with GardenStore(USER, garden=garden) as store:
        yield store


VALUES: list[dict[str, Any]] = [
    {},
    {
        "text": "The lamp -->\n<!-- @anchor: a v1 -->\n## Heading",
        "n": 1,
        "f": 0.1,
        "none": None,
        "deep": {"a": [1, {}]},
    },
    {"text": 'a <!-- value {"b": 1} --> and <!-- item {} -->'},
    {"emoji 🪔\u2028": "\ud800 \x00 \r\n é", "": True},
    {"long": "word " * 20_000},
]


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_a_value_comes_back_exactly(store: GardenStore, value: dict[str, Any]) -> None:
    store.put(("a",), "k", value)
    item = store.get(("a",), "k")
    assert item is not None
    assert (item.value, item.key, item.namespace) == (value, "k", ("a",))
    (found,) = store.search(("a",))
    assert found.value == value


@pytest.mark.parametrize(
    ("namespace", "key"),
    [
        (("Users", "Ada Lovelace"), "Key.md"),
        (("a--b",), "../../x"),
        (("ü" * 300,), "k" * 500),
        (("a", "b"), ""),
    ],
)
def test_any_name_has_a_document_of_its_own(store: GardenStore, namespace: tuple[str, ...], key: str) -> None:
    others = [(("a", "b"), "key-md"), (("users", "ada lovelace"), "key.md"), (("a", "b", "c"), "x")]
    for number, name in enumerate([*others, (namespace, key)]):
        store.put(*name, {"number": number})
    item = store.get(namespace, key)
    assert item is not None
    assert (item.namespace, item.key, item.value) == (namespace, key, {"number": 3})
    assert {(each.namespace, each.key) for each in store.search(())} == {*others, (namespace, key)}


def test_a_person_can_read_an_item_and_its_history(store: GardenStore, garden: Garden) -> None:
    store.put(("diary", "lamps"), "first", {"text": "The lamp was lit late."})
    store.put(("diary", "lamps"), "first", {"text": "The lamp was lit early."})
    (path,) = (f"{each}" for each in garden.session(USER).fs.list("users/ada", "**/first.md").result)
    assert path.startswith("users/ada/memories/store/diary-lamps--")
    assert (
        "# diary / lamps / first\n\n- text: The lamp was lit early.\n"
        in garden.session(USER).fs.read(path).result
    )
    assert "lit late" in garden.session(USER).history.show(path, "1").result.text


def test_no_value_leaves_its_comment(store: GardenStore, garden: Garden) -> None:
    store.put(("a",), "k", {"text": "over --> A zebra came. <!-- @anchor: a v1 -->"}, index=False)
    (path,) = garden.session(USER).fs.list("users/ada", "**/k.md").result
    text = str(garden.session(USER).fs.read(path).result)
    assert (text.count("<!--"), text.count("-->"), text.endswith(" -->\n")) == (2, 2, True)


def test_times_are_of_the_first_and_the_last_write(store: GardenStore) -> None:
    begun = datetime.now(UTC)
    store.put(("a",), "k", {"n": 1})
    first = store.get(("a",), "k")
    store.put(("a",), "k", {"n": 2})
    second = store.get(("a",), "k")
    assert first is not None
    assert second is not None
    assert begun < first.created_at == first.updated_at == second.created_at < second.updated_at


def test_a_deleted_item_is_archived(store: GardenStore, garden: Garden) -> None:
    store.put(("a",), "k", {"n": 1})
    store.delete(("a",), "k")
    store.delete(("a",), "k")
    store.delete(("a",), "never")
    assert store.get(("a",), "k") is None
    assert store.search(()) == []
    assert store.list_namespaces() == []
    path = "users/ada/memories/store/a/k.md"
    garden.session(USER, role="maintainer").md.restore(path, version=1)
    assert store.get(("a",), "k") is not None


FILTERS: list[dict[str, Any]] = [
    {"color": "red"}, {"n": {"$gt": 1}}, {"n": {"$gte": 2, "$lt": 3}}, {"n": {"$lte": 1}}, {"n": {"$ne": 2}},
    {"n": {"$eq": 2}}, {"deep": {"a": {"b": 1}}}, {"deep": {"a": {"b": {"$gte": 1}}}}, {"tags": ["x", "y"]},
    {"tags": ["x"]}, {"color": "red", "n": 3}, {"none": None}, {},
]  # fmt: skip


@pytest.fixture
def filled(store: GardenStore) -> tuple[GardenStore, InMemoryStore]:
    """The same items in a garden and in LangGraph's own store."""
    other = InMemoryStore()
    for number in (1, 2, 3):
        value = {
            "n": number, "color": ["red", "blue"][number % 2], "deep": {"a": {"b": number}},
            "tags": ["x", "y"][:number],
        }  # fmt: skip
        for each in (store, other):
            each.put(("a", str(number % 2)), f"k{number}", value)
    return store, other


def test_filters_find_what_langgraphs_own_store_finds(filled: tuple[GardenStore, InMemoryStore]) -> None:
    for wanted in FILTERS:
        mine, theirs = (sorted(item.key for item in each.search(("a",), filter=wanted)) for each in filled)
        assert mine == theirs, wanted
    with pytest.raises(ValueError, match=r"Use \$eq"):
        filled[0].search((), filter={"n": {"$near": 1}})
    assert filled[0].search((), filter={"missing": {"$gt": 1}}) == []


def test_pages_come_newest_first(filled: tuple[GardenStore, InMemoryStore]) -> None:
    store, _ = filled
    keys = [[item.key for item in store.search((), limit=2, offset=offset)] for offset in (0, 2, 4)]
    assert keys == [["k3", "k2"], ["k1"], []]
    assert [item.key for item in store.search((), limit=1, offset=1, filter={"n": {"$ne": 3}})] == ["k1"]
    assert [item.key for item in store.search(("a", "0"))] == ["k2"]


def test_namespaces_are_listed_as_langgraphs_own_store_does(
    filled: tuple[GardenStore, InMemoryStore],
) -> None:
    for each in filled:
        each.put(("b", "1", "deep"), "k", {})
    for asked in (
        {}, {"prefix": ("a",)}, {"prefix": ("*", "1")}, {"suffix": ("1",)}, {"suffix": ("1", "*")},
        {"max_depth": 1}, {"prefix": ("b",), "max_depth": 2}, {"limit": 1, "offset": 1},
    ):  # fmt: skip
        mine, theirs = (each.list_namespaces(**asked) for each in filled)  # type: ignore[arg-type]
        assert mine == theirs, asked


def test_a_query_ranks_and_scores_and_hides_what_is_not_indexed(store: GardenStore) -> None:
    store.put(("a",), "lamp", {"text": "The lamp was lit late.", "room": "hall"})
    store.put(("a",), "bread", {"text": "Bread on Sunday."})
    store.put(("a",), "secret", {"text": "The lamp was hidden."}, index=False)
    store.put(("a",), "half", {"text": "The lamp fell.", "room": "attic"}, index=["room"])
    found = store.search(("a",), query="When was the lamp lit?")
    assert found[0].key == "lamp"
    assert found[0].score is not None
    assert "secret" not in {item.key for item in found}
    assert store.get(("a",), "secret") is not None
    assert [item.key for item in store.search(("a",), query="attic", limit=1)] == ["half"]
    assert store.search(("b",), query="lamp") == []


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Moves the store's clock on by minutes."""
    passed = [0.0]
    monkeypatch.setattr(langgraph, "_now", lambda: datetime.now(UTC) + timedelta(minutes=passed[0]))

    def move_on(minutes: float) -> None:
        passed[0] += minutes

    return move_on


def test_an_expired_item_is_not_returned_and_is_swept(store: GardenStore, clock: Any) -> None:
    store.put(("a",), "short", {"n": 1}, ttl=10)
    store.put(("b",), "always", {"n": 2})
    clock(11)
    assert store.get(("a",), "short") is None
    assert [item.key for item in store.search(())] == ["always"]
    assert store.list_namespaces() == [("b",)]
    assert (store.sweep_ttl(), store.sweep_ttl()) == (1, 0)
    store.put(("a",), "short", {"n": 3}, ttl=10)
    again = store.get(("a",), "short")
    assert again is not None
    assert again.created_at == again.updated_at


def test_a_read_begins_the_time_to_live_anew_unless_told_not_to(store: GardenStore, clock: Any) -> None:
    store.put(("a",), "k", {"n": 1}, ttl=10)
    first = store.get(("a",), "k")
    clock(8)
    assert store.get(("a",), "k") == first
    clock(8)
    assert [item.key for item in store.search(("a",))] == ["k"]
    clock(8)
    last = store.get(("a",), "k", refresh_ttl=False)
    assert last == first
    clock(3)
    assert store.get(("a",), "k") is None


def test_a_refresh_never_takes_back_a_write_that_came_in_between(store: GardenStore) -> None:
    store.put(("a",), "k", {"n": 1}, ttl=10)
    read = store._read(store._path(("a",), "k"))
    store.put(("a",), "k", {"n": 2}, ttl=10)
    assert read is not None
    store._refresh(read)
    item = store.get(("a",), "k")
    assert item is not None
    assert item.value == {"n": 2}


def test_a_batch_reads_first_and_keeps_the_last_of_two_writes(store: GardenStore) -> None:
    ops = [PutOp(("a",), "k", {"n": 1}), GetOp(("a",), "k"), PutOp(("a",), "k", {"n": 2})]
    assert store.batch(ops) == [None, None, None]
    (item,) = waited(store.abatch([GetOp(("a",), "k")]))
    assert item is not None
    assert item.value == {"n": 2}  # type: ignore[union-attr]


def test_a_wrong_namespace_and_a_value_that_is_no_json_are_refused(store: GardenStore) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put(("a.b",), "k", {})
    with pytest.raises(InvalidNamespaceError):
        store.batch([GetOp(("a.b",), "k")])
    with pytest.raises(TypeError):
        store.put(("a",), "k", {"time": datetime.now(UTC)})
    assert store.search(()) == []


def test_an_item_that_was_damaged_by_hand_is_reported_and_kept(store: GardenStore, garden: Garden) -> None:
    store.put(("a",), "k", {"n": 1})
    file = garden.home.path / "users/ada/memories/store/a/k.md"
    file.write_text(file.read_text().replace("<!-- value", "<!-- gone"))
    damaged = file.read_text()
    for op in (GetOp(("a",), "k"), PutOp(("a",), "k", {}), SearchOp(())):
        with pytest.raises(GardenError, match="no item that can be read"):
            store.batch([op])
    assert file.read_text() == damaged


def test_more_items_than_one_answer_holds_are_all_found(store: GardenStore) -> None:
    store.batch([PutOp((f"n{number % 7}",), str(number), {"n": number}) for number in range(120)])
    assert len(store.search((), limit=200)) == 120
    assert len(store.list_namespaces()) == 7


@pytest.mark.parametrize("is_late", [False, True])
def test_an_item_that_is_written_anew_during_a_sweep_stays(
    garden: Garden, monkeypatch: pytest.MonkeyPatch, *, is_late: bool
) -> None:
    store, other = (GardenStore(USER, garden=garden) for _ in range(2))
    store.put(("a",), "k", {"text": "old"}, ttl=0)
    read = store.opening.text_of

    def overtaken(path: str) -> tuple[str, str]:
        before = read(path)
        other.put(("a",), "k", {"text": "new"})
        return before if is_late else read(path)

    monkeypatch.setattr(store.opening, "text_of", overtaken)
    assert store.sweep_ttl() == 0
    found = other.get(("a",), "k")
    assert found is not None
    assert found.value == {"text": "new"}
