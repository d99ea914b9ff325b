"""Two users and three roles in one home: no user sees, changes or blocks another."""

from uuid import uuid4

from garden.session import Session
from garden.tools.registry import REGISTRY
from garden.writing.callers import Role
from tests.files.traversal_corpus import ADA, ATTACKS, BEN, DOCUMENT
from tests.tools.attacked import CANARY, NOTES, PATHS, Scene, entrances

BENS_NOTES = NOTES.replace(ADA, BEN, 1)


def sessions(scene: Scene, role: str = "agent") -> tuple[Session, Session]:
    return scene.garden.session(ADA, "companion", role=role), scene.garden.session(
        BEN, "companion", role=role
    )


def test_the_same_place_is_another_document_in_another_garden(scene: Scene) -> None:
    ada, ben = sessions(scene)
    assert CANARY not in str(ada.fs.read(NOTES).result)
    assert CANARY in str(ben.fs.read(BENS_NOTES).result)
    for session, theirs in ((ada, BENS_NOTES), (ben, NOTES)):
        for entrance in entrances():
            files, records = scene.files(), scene.records()
            envelope = entrance.call(scene.garden, theirs, session.caller.user_id)
            assert envelope["error"]["code"] == "path_not_allowed", str(entrance)
            assert (scene.files(), scene.records()) == (files, records), str(entrance)


FILTERS: tuple[dict[str, str], ...] = (
    *({}, {"text": CANARY}, {"toolCallId": "call-1"}, {"transactionId": "turn-1"}, {"path": NOTES}),
    *(
        {"actor": "companion"},
        {"type": "observation"},
        {"status": "committed"},
        {"until": "2999-01-01T00:00:00Z"},
    ),
)


def test_no_tool_reveals_another_users_events(scene: Scene) -> None:
    ada, ben = sessions(scene)
    ben.events.log("observation", rationale=f"{CANARY} words", tool_call_id="call-1", transaction_id="turn-1")
    own = {str(row.event_id) for row in ada.events.query(limit=500).result.rows}
    bens = {str(row.event_id) for row in ben.events.query(limit=500).result.rows}
    assert own
    assert bens
    assert not own & bens
    for role in Role:
        asking = scene.garden.session(ADA, "companion", role=role)
        for filters in (*FILTERS, *({"cursor": cursor} for cursor in bens)):
            found = asking.call("events.query", {**filters, "limit": 500})
            scene.told(found)
            assert {row["eventId"] for row in found["result"]["rows"]} <= own, (role, filters)


def test_a_log_entry_never_annotates_another_users_event(scene: Scene) -> None:
    ada, ben = sessions(scene)
    written = ben.fs.append(BENS_NOTES, "slept well", tool_call_id="call-1")
    said = ada.events.log("observation", file_path=NOTES, tool_call_id="call-1")
    assert "annotated" not in said.meta
    assert said.meta["eventId"] != written.meta["eventId"]
    assert not [row.annotations for row in ben.events.query().result.rows if row.annotations]


def test_the_same_key_and_the_same_words_of_two_users_are_two_requests(scene: Scene) -> None:
    ada, ben = sessions(scene)
    key = str(uuid4())
    first = ada.fs.append(NOTES, "the same words", idempotency_key=key)
    second = ben.fs.append(BENS_NOTES, "the same words", idempotency_key=key)
    assert "replayed" not in second.meta
    assert first.meta["eventId"] != second.meta["eventId"]
    assert ben.fs.append(BENS_NOTES, "the same words", idempotency_key=key).meta["replayed"]
    assert (scene.home / BENS_NOTES).read_text().count("the same words") == 1


def test_a_search_in_ones_own_garden_finds_nothing_of_anothers(scene: Scene) -> None:
    ada, _ = sessions(scene)
    for root in (f"users/{ADA}", f"history/{ADA}"):
        for glob in (None, "**", f"**/{BEN}/**", f"../{BEN}/**", "*", "**/*"):
            for tool, args in (("fs.search", {"root": root, "pattern": "."}), ("fs.list", {"path": root})):
                found = ada.call(tool, {**args, **({"glob": glob} if glob else {})})
                scene.told(found)
                paths = [each if isinstance(each, str) else each["path"] for each in found["result"]]
                assert all(path.startswith(f"{root}/") for path in paths), (tool, root, glob)


def test_a_garden_whose_id_begins_like_mine_is_not_mine(scene: Scene) -> None:
    names = [f"{ADA}-evil", f"{ADA}0", f"{ADA}_", ADA[:-1]]
    for name in names:
        scene.garden.session(name).md.plant(f"users/{name}/notes.md")
    ada, _ = sessions(scene)
    listed = str(ada.fs.list(f"users/{ADA}", glob="**").result)
    assert not [name for name in names if f"users/{name}/" in listed]
    for name in names:
        for tool in ("fs.read", "fs.hash", "md.lint", "events.query"):
            scene.assert_refused(ada.call(tool, {"path": f"users/{name}/notes.md"}), (name, tool))


def test_each_role_may_use_exactly_its_tools(scene: Scene) -> None:
    files, records = scene.files(), scene.records()
    for role in Role:
        session = scene.garden.session(ADA, "companion", role=role)
        allowed = {line.name: line.allowed for line in session.tools.list().result}
        for name, tool in REGISTRY.items():
            # A path that no caller may use, so that a call that gets past the check changes nothing.
            places = PATHS & set(tool.request_schema.get("properties", {}))
            dry = {"dryRun": True} if "dryRun" in tool.fields else {}
            args = {**tool.example, **dict.fromkeys(places, ".."), **dry}
            envelope = session.call(name, args)
            told = envelope.get("error", {}).get("code")
            assert allowed[name] is (role in tool.traits.roles), (role, name)
            assert (told == "permission_denied") is (role not in tool.traits.roles), (role, name, told)
    assert scene.files() == files
    assert scene.records() == records


def test_a_reviewer_reads_everything_and_writes_nothing(scene: Scene) -> None:
    writing = {name for name, tool in REGISTRY.items() if tool.traits.writes}
    assert writing >= {name for name, tool in REGISTRY.items() if tool.edits}
    assert all(Role.REVIEWER not in REGISTRY[name].traits.roles for name in writing)
    reviewer = scene.garden.session(ADA, "reviewer", role="reviewer")
    files, records = scene.files(), scene.records()
    for name in writing:
        for attack in (NOTES, DOCUMENT, BENS_NOTES, ATTACKS[0].path):
            envelope = reviewer.call(name, {**REGISTRY[name].example, "path": attack})
            scene.assert_refused(envelope, name, "permission_denied")
            scene.assert_refused(reviewer.call(name, {"nonsense": 1}), name, "permission_denied")
    for name, tool in REGISTRY.items():
        if Role.REVIEWER in tool.traits.roles:
            assert reviewer.call(name, tool.example)["ok"], name
    assert scene.files() == files
    assert scene.records() == records
