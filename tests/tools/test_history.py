"""The reviewer's questions: what changed, when, by whom and why, and what did it say before."""

from typing import Any

from garden.session import Session
from tests.support.gardens import CRITIC, ok, plant, result


def curate(session: Session, op: str, *items: Any, reason: str, anchor: str = "concerns v1") -> str:
    done = ok(
        session, "md.curate_list", path=CRITIC, sectionAnchor=anchor, op=op, items=list(items), reason=reason
    )
    event_id: str = done["meta"]["eventId"]
    return event_id


def concerns(session: Session, **args: Any) -> dict[str, dict[str, Any]]:
    lines = result(session, "history.blame", path=CRITIC, anchor="concerns v1", **args)["lines"]
    return {line["text"]: line for line in lines}


def test_the_answer_to_why_does_concerns_say_this_takes_two_calls(ada: Session) -> None:
    plant(ada, CRITIC)
    first = curate(ada, "append", "Sleeps badly", reason="She said so.")
    curate(ada, "append", "Works late", reason="Seen twice.")
    curate(ada, "prune", {"match": "Sleeps badly"}, reason="She sleeps well now.")
    why = concerns(ada)["- Works late"]
    assert (why["actor"], why["origin"], why["rationale"]) == ("companion", "agent", "Seen twice.")
    before = result(ada, "history.show", path=CRITIC, at=first[-6:], anchor="concerns")
    assert "- Sleeps badly" in before["text"]
    assert before["eventId"] == first
    assert before["version"] == 2
    hits = result(ada, "history.search", text="sleeps BADLY")["hits"]
    assert [(hit["anchor"], hit["cameWith"]) for hit in hits if hit["anchor"] == "concerns v1"] == [
        ("concerns v1", first)
    ]
    log = result(ada, "history.log", path=CRITIC, anchor="concerns")["versions"]
    print(log)
    print(result(ada, "history.diff", path=CRITIC, **{"from": "head~1"}, words=True, anchor="concerns"))
    print(result(ada, "history.show", path="users/ada", at="now"))
