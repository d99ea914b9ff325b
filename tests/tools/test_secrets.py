"""A secret in a request is refused at the door: it is stored nowhere, and no answer repeats it."""

import cProfile
from typing import Any

import pytest

from garden.application import Garden, open_garden
from garden.events.records import Caller
from garden.home.folder import Home
from garden.session import Session
from garden.tools.markdown import PatchSectionRequest
from garden.tools.secrets import check_for_secrets
from tests.support.gardens import CRITIC, NOTES, edit_outside, ok, plant, refused, result
from tests.tools.attacked import Scene

TOKEN = "ghp_" + "a1B2c3" * 6
CERTAIN = (
    TOKEN,
    "-----BEGIN OPENSSH PRIVATE KEY-----",
    "AKIA" + "Q1W2E3R4T5Y6U7I8",
    "glpat-" + "a1B2c3d4e5" * 2,
    "xoxb-" + "1234567890-abcdef",
    "sk-proj-" + "a1B2c3d4e5" * 4,
    "sk_live_" + "a1B2c3d4e5" * 2,
    "eyJ" + "a" * 20 + ".eyJ" + "b" * 20 + "." + "c" * 20,
)
LIKELY = ("password: correct7horse9battery", "postgres://tea:hunter2@db.example.org/tea")
EDIT = {"path": CRITIC, "sectionAnchor": "needs v1", "change": {"append": "- Rest"}}
LOG = {"type": "observation", "rationale": "She laughed."}
PLACES: dict[str, tuple[str, dict[str, Any]]] = {
    "change": ("md.patch_section", {**EDIT, "change": {"append": f"- {TOKEN}"}}),
    "sectionAnchor": ("md.patch_section", {**EDIT, "sectionAnchor": TOKEN}),
    **{
        name: ("md.patch_section", {**EDIT, name: TOKEN})
        for name in ("rationale", "overrideRationale", "idempotencyKey", "toolCallId", "transactionId")
    },
    "agentActionId": ("md.patch_section", {**EDIT, "opts": {"agent_action_id": TOKEN}}),
    "evidenceRefs": ("md.patch_section", {**EDIT, "evidenceRefs": ["ev:s1-m1", TOKEN]}),
    "content": ("fs.write", {"path": NOTES, "content": f"# Notes\n\n{TOKEN}\n"}),
    "text": ("fs.append", {"path": NOTES, "text": TOKEN}),
    "replace": ("fs.edit", {"path": NOTES, "find": "# Notes", "replace": TOKEN}),
    "diffText": ("fs.patch", {"path": NOTES, "diffText": f"@@ -1,1 +1,2 @@\n ---\n+{TOKEN}\n"}),
    "items": ("md.curate_list", {
        "path": CRITIC, "sectionAnchor": "needs v1", "op": "append", "item": TOKEN, "reason": "r",
    }),
    "reason": ("md.curate_list", {
        "path": CRITIC, "sectionAnchor": "needs v1", "op": "append", "item": "Rest", "reason": TOKEN,
    }),
    "title": ("md.plant", {"path": "users/ada/overview.md", "title": TOKEN}),
    "details": ("events.log", {**LOG, "details": {"deep": [{TOKEN: 1}]}}),
}  # fmt: skip


@pytest.mark.parametrize("field", PLACES)
def test_a_secret_is_refused_in_every_field_and_stored_nowhere(
    scene: Scene, field: str, capfd: pytest.CaptureFixture[str]
) -> None:
    tool, args = PLACES[field]
    files, records = scene.files(), scene.records()
    ada = scene.garden.session("ada")
    asked = [(tool, args), ("propose_change", {"tool": tool, "args": args})]
    for name, given in asked[: 1 if tool == "events.log" else 2]:
        error = refused(ada, name, "invalid_input", **given)
        assert error["details"] == {"problems": [{"field": field, "problem": "it holds a GitHub token"}]}
        assert TOKEN not in str(error)
    assert (scene.files(), scene.records()) == (files, records)
    assert TOKEN not in "".join(capfd.readouterr())


@pytest.mark.parametrize("secret", CERTAIN)
def test_well_known_forms_are_refused(ada: Session, secret: str) -> None:
    plant(ada, NOTES)
    assert secret not in str(refused(ada, "fs.append", "invalid_input", path=NOTES, text=f"Key: {secret}"))
    refused(ada, "events.log", "invalid_input", type="observation", rationale=secret)


INVISIBLE = {"soft hyphen": "\xad", "zero-width space": "\u200b", "tag": "\U000e0041"}
HIDDEN = {name: f"{TOKEN[:2]}{each}{TOKEN[2:]}" for name, each in INVISIBLE.items()}
HIDDEN["wide"] = TOKEN.replace("_", "\uff3f")


@pytest.mark.parametrize("hidden", HIDDEN.values(), ids=HIDDEN)
def test_a_secret_does_not_hide_behind_characters_that_look_like_nothing(ada: Session, hidden: str) -> None:
    plant(ada, NOTES)
    refused(ada, "fs.append", "invalid_input", path=NOTES, text=f"Key: {hidden}")


@pytest.mark.parametrize("words", LIKELY)
def test_words_that_only_look_like_a_secret_get_a_warning(ada: Session, words: str) -> None:
    plant(ada, NOTES)
    warnings = ok(ada, "fs.append", path=NOTES, text=words)["meta"]["warnings"]
    assert any("MG701" in warning for warning in warnings)


def test_a_secret_that_the_document_has_may_be_kept_and_taken_out(garden: Garden, ada: Session) -> None:
    plant(ada, CRITIC)
    anchor, key = "<!-- @anchor: needs v1 -->\n", "-----BEGIN PRIVATE KEY-----"
    edit_outside(garden, CRITIC, anchor, f"{anchor}\n- {TOKEN}\n- {key} MIIE1234\n")
    section = {"path": CRITIC, "sectionAnchor": "needs v1"}
    kept = f"- {TOKEN}\n- {key} MIIE1234\n- Rest"
    ok(ada, "md.patch_section", **section, change={"replace": kept})
    ok(ada, "fs.write", path=CRITIC, content=str(result(ada, "fs.read", path=CRITIC)) + "\n")
    other_key = {"append": f"- {key} MIIE9999"}
    refused(ada, "md.patch_section", "invalid_input", **section, change=other_key)
    refused(ada, "md.patch_section", "invalid_input", **section, change={"append": "x"}, rationale=TOKEN)
    ok(ada, "md.curate_list", **section, op="prune", item={"match": TOKEN}, reason="No place for it.")
    ok(ada, "fs.patch", path=CRITIC, diffText=f"@@ -1,2 +1,1 @@\n-- {key} MIIE1234\n - Rest\n")
    assert key not in str(result(ada, "fs.read", path=CRITIC))


def test_a_setting_makes_it_a_warning(garden: Garden, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(garden.session("ada"), NOTES)
    monkeypatch.setenv("GARDEN_SECRETS", "warn")
    with open_garden(home.path) as lenient:
        envelope = ok(lenient.session("ada"), "fs.append", path=NOTES, text="x", rationale=TOKEN)
    assert "rationale holds a GitHub token." in envelope["meta"]["warnings"]


def test_a_request_without_a_sign_of_a_secret_is_searched_once(garden: Garden) -> None:
    change = {"replace": "- Keeps the token of a parking meter, and a café in Köln\n" * 20}
    request = PatchSectionRequest.model_validate(
        {"path": NOTES, "sectionAnchor": "inbox v1", "change": change}
    )
    profile = cProfile.Profile()
    profile.runcall(check_for_secrets, garden.services, Caller("ada", "companion"), request)
    assert sum(entry.callcount for entry in profile.getstats()) <= 30
