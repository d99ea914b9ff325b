"""Approvals in the console: the queue, answers, undoing one, and calls that are changed before they run."""

import json
import re
from collections.abc import Iterator

import pytest

from garden.home.settings import TokenPolicy
from tests.support.recalled import change
from tests.support.served import Person, Service
from tests.support.visitors import Visitor, visiting, words_of


@pytest.fixture
def ada(service: Service, ada: Person) -> Iterator[Person]:
    """Ada's companion, with a token whose policy asks before each note."""
    policy = TokenPolicy(permissions={"fs.append": "ask"})
    issued = service.garden.tokens.create(
        ada.user_id, role="agent", actor="companion", expires_at=None, policy=policy
    )
    with service.client(issued.secret) as client:
        yield Person(ada.user_id, issued.secret, issued.token, client)


def asked(ada: Person, text: str = "Slept well.") -> str:
    refused = ada.call("fs.append", path=ada.notes, text=text).json()
    return str(refused["error"]["details"]["approvalId"])


def outcome(visitor: Visitor, path: str, **fields: str) -> str:
    """Send a form and read the page that it leads to."""
    answer = visitor.post(path, **fields)
    assert answer.status_code == 303, answer.text
    return visitor.text(answer.headers["location"].removeprefix("/console"))


def test_a_call_waits_with_its_change_until_it_is_approved(ada: Person, owner: Visitor) -> None:
    assert "Nothing waits for an answer" in owner.text("/approvals")
    approval = asked(ada)
    shown = owner.text("/approvals")
    for words in ("fs.append on notes.md asked by companion (agent)", "Slept well.", "left", '"text"'):
        assert words in shown
    assert "Slept well." in owner.text(f"/approvals/{approval}")
    done = outcome(owner, f"/approvals/{approval}/approve")
    assert "approved by you" in done
    assert "Undo" in done
    ada.ok("fs.append", path=ada.notes, text="Slept well.")
    assert "It was sent again and carried out." in owner.text("/approvals")


def test_a_call_shows_why_it_is_asked_for(ada: Person, owner: Visitor) -> None:
    ada.call("fs.append", path=ada.notes, text="Woke.", rationale="She <b>told</b> me.")
    assert '<p class="asked-why">She &lt;b&gt;told&lt;/b&gt; me.</p>' in owner.page("/approvals")


def test_a_denied_call_has_a_reason_that_its_asker_reads(ada: Person, reviewer: Visitor) -> None:
    approval = asked(ada)
    assert "denied by you" in outcome(reviewer, f"/approvals/{approval}/deny", reason="Not hers.")
    assert "Not hers." in ada.call("fs.append", path=ada.notes, text="Slept well.").text
    token = f"ghp_{'Zebra9' * 6}"
    second = reviewer.post(f"/approvals/{asked(ada, 'Woke.')}/deny", reason=token)
    assert second.status_code == 400
    assert token not in second.text


def test_an_answer_can_be_undone_for_a_short_while(service: Service, ada: Person, owner: Visitor) -> None:
    approval = asked(ada)
    denied = outcome(owner, f"/approvals/{approval}/deny")
    assert "it may send the call again" in denied
    assert "It waits for an answer." in outcome(owner, f"/approvals/{approval}/undo")
    assert "Slept well." in owner.text("/approvals")
    owner.post(f"/approvals/{approval}/approve")
    change(service.garden, "update garden.approvals set decided_at = now() - interval '31 s'")
    assert "Undo" not in owner.text(f"/approvals?done={approval}")
    assert "can't be taken back any more" in outcome(owner, f"/approvals/{approval}/undo")


def test_the_second_of_two_approvers_sees_what_the_first_did(
    ada: Person, owner: Visitor, reviewer: Visitor
) -> None:
    approval = asked(ada)
    owner.post(f"/approvals/{approval}/deny", reason="Not today.")
    for answer, problem in (("approve", "came too late"), ("deny", "came too late"), ("undo", "taken back")):
        late = outcome(reviewer, f"/approvals/{approval}/{answer}")
        assert problem in late
        assert "denied by owner" in late
        assert "Not today." in late
    assert "denied by you" in outcome(owner, f"/approvals/{approval}/edit", args="{}", do="carry_out")


def test_an_expired_question_says_so(service: Service, ada: Person, owner: Visitor) -> None:
    approval = asked(ada)
    change(
        service.garden,
        "update garden.approvals set asked_at = now() - interval '1 h', expires_at = now() "
        "where user_id = %s",
        ada.user_id,
    )
    assert "No answer came in time." in outcome(owner, f"/approvals/{approval}/approve")


def test_a_call_is_changed_previewed_and_carried_out_as_the_approvers(ada: Person, owner: Visitor) -> None:
    approval = asked(ada)
    address = f"/approvals/{approval}/edit"
    assert "Slept well." in owner.page(address)
    better = json.dumps({"path": ada.notes, "text": "Slept a little."})
    preview = owner.post(address, args=better, do="preview")
    assert "+Slept a little." in words_of(preview.text)
    assert "Slept a little." not in ada.ok("fs.read", path=ada.notes)["result"]
    done = outcome(owner, address, args=better, do="carry_out")
    assert "edited by you" in done
    assert "Slept a little." in ada.ok("fs.read", path=ada.notes)["result"]


@pytest.mark.parametrize(
    ("args", "status", "words"),
    [
        ("{", 400, "not valid JSON"),
        ("[]", 400, "must be a JSON object"),
        ('{"path": "users/else/notes.md", "text": "x"}', 403, "users/else"),
        ('{"text": "x"}', 400, "path"),
    ],
)
@pytest.mark.parametrize("do", ["preview", "carry_out"])
def test_arguments_that_cant_be_used_stay_in_the_form(
    ada: Person, owner: Visitor, args: str, status: int, words: str, do: str
) -> None:
    approval = asked(ada)
    answer = owner.post(f"/approvals/{approval}/edit", args=args, do=do)
    assert answer.status_code == status
    shown = words_of(answer.text)
    assert words in shown
    assert args in shown
    assert "Approve" in owner.text("/approvals")


def test_who_may_not_answer_has_no_buttons_and_is_refused(
    service: Service, ada: Person, ben: Person, reviewer: Visitor
) -> None:
    approval = asked(ada)
    assert "Edit" not in reviewer.page("/approvals")
    edited = json.dumps({"path": ada.notes, "text": "Mine."})
    assert reviewer.post(f"/approvals/{approval}/edit", args=edited, do="carry_out").status_code == 403
    for role in ("agent", "maintainer"):
        with visiting(service, ada, role, "companion") as asker:
            assert "Another person must answer" in asker.text("/approvals")
            assert "/approve" not in asker.page("/approvals")
            assert asker.post(f"/approvals/{approval}/approve").status_code == 403
    with visiting(service, ben) as other:
        assert "Slept well." not in other.text("/approvals")
        assert other.get(f"/approvals/{approval}").status_code == 404
        assert other.post(f"/approvals/{approval}/approve").status_code == 404
    assert reviewer.get(f"/approvals/{approval}/approve").status_code == 405


def test_words_of_a_call_are_text_and_characters_that_hide_are_seen(ada: Person, owner: Visitor) -> None:
    approval = asked(ada, "</pre></textarea><script>alert(1)</script> \u202egnp.exe\u2066 " + "x" * 200_000)
    for path in ("/approvals", f"/approvals/{approval}", f"/approvals/{approval}/edit"):
        page = owner.page(path)
        assert "<script>alert" not in page
        assert "U+202E" in page
        assert "\u202e" not in page
    assert len(owner.page("/approvals")) < 40_000
    assert "This is cut." in owner.text("/approvals")


def test_what_waits_longest_comes_first_so_that_a_new_call_moves_no_button(
    ada: Person, owner: Visitor
) -> None:
    for number in range(11):
        asked(ada, f"Thought {number:02}.")
    first = owner.page("/approvals")
    assert "10+ wait for an answer" in words_of(first)
    [later] = re.findall('href="/console([^"]*)" rel="next"', first)
    assert first.index("Thought 00.") < first.index("Thought 09.")
    assert "Thought 10." not in first
    assert "Thought 10." in owner.text(later)


def test_a_new_question_is_announced_to_pages_that_are_open(ada: Person, owner: Visitor) -> None:
    with owner.client.stream("GET", "/console/live") as stream:
        lines = stream.iter_lines()
        greeting = [next(lines), next(lines), next(lines)]
        assert greeting[0] == "retry: 1000"
        asked(ada)
        assert next(lines) == "event: notice"
