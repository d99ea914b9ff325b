"""A garden whose words, names and reasons try to break out of every page that shows them."""

from garden.application import Garden
from garden.upkeep.reconciliation import reconcile
from tests.browser.story import Story
from tests.support.gardens import file_of, put

USER = "mallory"
NOTES = f"users/{USER}/notes.md"
PROFILE = f"users/{USER}/parts/critic/profile.md"
MISSING = f"users/{USER}/parts/gone/notes.md"
# Each mark, where a page takes it for more than words, shows: as an element, a request, a dialog or a script.
MARKS = (
    "<script>window.broken = 1; alert('broken')</script>",
    "<img src=x onerror=\"window.broken = 1; alert('broken')\">",
    "</textarea></title></style></script><svg onload=\"alert('broken')\"><script>alert(1)</script>",
    '<iframe srcdoc="<script>parent.broken = 1</script>"></iframe><base href=http://elsewhere.example/>',
    "<meta http-equiv=refresh content=0;url=http://elsewhere.example/>",
    "<link rel=stylesheet href=//elsewhere.example>",
    "<form action=http://elsewhere.example/><input name=form_token autofocus onfocus=alert(1)></form>",
    "[click](javascript:alert('broken')) <javascript:alert(1)>",
    "[data](data:text/html,<script>alert(1)</script>)",
    "![picture](http://elsewhere.example/picture.png) ![data](data:image/svg+xml,<svg onload=alert(1)>)",
    "[![x](//elsewhere.example/a.png)](//elsewhere.example/b) <http://elsewhere.example/c>",
    "[r]\n\n[r]: javascript:alert(1)\n",
    "{{ 7 * 7 }} {% raw %} ${7*7} &lt;script&gt; &#60;img src=x onerror=alert(1)&#62;",
    '" onmouseover="alert(1)" x="',
    "right to left \u202egnp.exe\u202c, isolate \u2066\u2067x\u2069",
    "hidden \u200bzero\u2060width\ufeff, tag \U000e0041\U000e0042",
    "combining " + "Z" + "\u0300\u0301\u0302\u0303" * 50 + " and " + "\u6f22" * 300,
    "`" * 60 + "[" * 500 + "*_" * 500 + "> " * 200 + "#" * 300,
    "unbroken" + "x" * 3000,
)
ACTOR = "<img src=x onerror=alert('broken')>"
_FRONT = "---\nid: {}\nuser_id: mallory\nschema: 1\n---\n\n"


def plant(garden: Garden) -> Story:
    """Make the garden, by tools where they let it and by files where they don't."""
    # A fence that is left open would take in what the tools append.
    paragraphs = [mark for mark in MARKS if not mark.startswith("```")]
    items = "\n\n".join(["\n".join(f"- {mark}" for mark in MARKS), *paragraphs])
    text = f"# {MARKS[1]}\n\n## Inbox {MARKS[0]}\n<!-- @anchor: inbox v1 -->\n\n{items}\n"
    put(garden, NOTES, (_FRONT.format("mallory") + text).encode())
    line = f"- long {'<b>x' * 200_000}"
    profile = f"# Critic\n\n## Summary\n<!-- @anchor: summary v1 -->\n\n{line}\n"
    put(garden, PROFILE, (_FRONT.format("critic") + profile).encode())
    list(reconcile(garden.services, [USER]))
    return _edit(garden)


def _edit(garden: Garden) -> Story:
    hostile = garden.session(USER, ACTOR, transaction_id=MARKS[0])
    asking = garden.session(USER, ACTOR, policy={"permissions": {"fs.append": "ask"}})
    events, approvals = [], []
    for mark in MARKS:
        call = {"path": NOTES, "text": f"- {mark}", "rationale": mark, "toolCallId": mark[:100]}
        done = hostile.call("fs.append", call)
        # What no tool takes is in the garden already, by an edit from outside.
        events += [done["meta"]["eventId"]] if done["ok"] else []
        details = asking.call("fs.append", {**call, "text": f"- asked {mark}"})["error"]["details"]
        approvals += [details["approvalId"]] if "approvalId" in details else []
    for tool, args in (
        ("events.log", {"type": "observation", "rationale": MARKS[0], "filePath": NOTES}),
        ("memory.context", {"query": MARKS[1], "tokens": 2000}),
        ("memory.recall", {"query": MARKS[0], "limit": 5}),
    ):
        assert hostile.call(tool, args)["ok"]
    assert len(events) > len(MARKS) / 2, done
    owner = garden.session(USER, ACTOR, role="maintainer")
    erased = owner.call("garden.erase", {"path": NOTES, "text": MARKS[0], "reason": MARKS[1]})
    assert owner.call("memory.context", {"query": MARKS[1], "tokens": 2000})["ok"]
    put(garden, MISSING, (_FRONT.format("gone") + f"# {MARKS[1]}\n").encode())
    list(reconcile(garden.services, [USER]))
    file_of(garden, MISSING).unlink()
    erasure = erased["result"]["tombstone"]
    return Story(USER, "", NOTES, events[-1], approvals[0], erasure, MISSING)
