"""The pages of documents: the tree, the text, who wrote what, versions, comparisons and the ways back."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import unescape
from pathlib import Path

import pytest

from garden.events.records import Caller
from garden.home.settings import Permission, TokenPolicy
from garden.surfaces.web.console.pages import hue
from garden.surfaces.web.console.recall import link_to
from tests.support.served import Person, Service
from tests.support.visitors import Visitor, words_of

_ITEMS = "\n- Waters the fern\n- Calls Ben\n"
_NOTES = "/documents/notes.md"


@pytest.fixture
def planted(ada: Person) -> Person:
    """Ada's notes in two versions; the companion changed an item in the second."""
    text = ada.ok("fs.read", path=ada.notes)["result"] + _ITEMS
    ada.ok("fs.write", path=ada.notes, content=text, rationale="A first list.")
    found = text.replace("Calls Ben", "Calls Mira")
    ada.ok("fs.write", path=ada.notes, content=found, rationale="She named Mira.")
    return ada


@pytest.fixture
def root(service: Service) -> Path:
    """The folder of the garden home."""
    return service.garden.home.path


def test_the_tree_has_every_document_with_its_version(owner: Visitor, planted: Person) -> None:
    planted.ok("md.plant", path=planted.profile)
    page = owner.page("/documents")
    assert f'href="/console{_NOTES}"' in page
    assert 'href="/console/documents/parts/critic/profile.md"' in page
    assert "notes v3, just now" in words_of(page)
    found = owner.text("/documents?find=CRITIC")
    assert "1 of 2 documents" in found
    assert "notes v3" not in found
    assert "No document has this" in owner.text("/documents?find=nowhere")


def test_the_tree_names_what_is_missing_or_new(owner: Visitor, planted: Person, root: Path) -> None:
    (root / planted.notes).parent.joinpath("parts/critic").mkdir(parents=True)
    (root / planted.notes).rename(root / planted.profile.replace("profile", "notes"))
    listed = owner.text("/documents")
    assert "file missing" in listed
    assert "not recorded yet" in listed
    for view in ("read", "lines"):
        text = owner.text(f"/documents/parts/critic/notes.md?view={view}")
        assert "This file is not recorded yet" in text
        assert "Calls Mira" in text


def test_free_documents_are_in_the_tree_with_the_archived_ones_marked(owner: Visitor, ada: Person) -> None:
    deep, tea = (f"users/{ada.user_id}/memories/{name}.md" for name in ("drinks/hot/mint", "tea"))
    for path in (deep, tea):
        ada.ok("fs.write", path=path, content="It calms her.\n")
    ada.ok("fs.archive", path=tea, rationale="She stopped.")
    listed = owner.text("/documents")
    assert "Memories" in listed
    assert "tea v2, just now archived" in listed
    assert "drinks/hot mint v1, just now" in listed
    assert "It calms her." in owner.text("/documents/memories/drinks/hot/mint.md")
    assert "Versions has what it said before" in owner.text("/documents/memories/tea.md")
    assert "She stopped." in owner.text("/documents/memories/tea.md?view=versions")


def test_a_document_is_read_with_its_sections(owner: Visitor, planted: Person) -> None:
    page = owner.page(_NOTES)
    assert re.search(r'<h3 id="inbox"><span id="L12">Inbox</span></h3>', page)
    assert '<a class="chip" href="#inbox">inbox v1</a>' in page
    assert re.search(r'<li id="L15"><a class="line" href="#L15"[^>]*>15</a> Waters the fern', page)
    words = words_of(page)
    assert f"user_id {planted.user_id}" in words
    assert "@anchor" not in words
    assert "Version 3, just now by companion" in words
    assert "She named Mira." in words


@pytest.mark.usefixtures("planted")
def test_a_section_leads_to_its_changes(owner: Visitor) -> None:
    link = re.search(r'href="/console(/timeline\?[^"]+inbox[^"]+)">Changes', owner.page(_NOTES))
    assert link is not None
    assert "She named Mira." in owner.text(unescape(link[1]))


def test_the_usual_actors_have_colours_of_their_own() -> None:
    actors = ("operator", "companion", "gardener", "external", "owner", "mira")
    assert len({hue(each) for each in actors}) == len(actors)


def test_both_forms_of_a_path_lead_to_the_document(owner: Visitor, planted: Person) -> None:
    assert owner.text(f"/documents/{planted.notes}") == owner.text(_NOTES)


@pytest.mark.usefixtures("planted")
def test_the_lines_name_who_wrote_them(owner: Visitor) -> None:
    page = owner.page(f"{_NOTES}?view=lines")
    groups = [words_of(f"<main>{each}") for each in page.split('class="group')[1:]]
    [first] = [each for each in groups if "Waters the fern" in each]
    [last] = [each for each in groups if "Calls Mira" in each]
    assert "v2, agent: A first list." in first
    assert "v3, agent: She named Mira." in last
    assert re.search(r'href="/console/timeline/[0-9a-f-]{36}"', page)
    assert "age-0" in page
    without = owner.page(f"{_NOTES}?view=lines&blame=no")
    assert "A first list." not in without
    assert "- Waters the fern" in without
    assert '<a class="mark' in owner.page(f"{_NOTES}?blame=yes")


@pytest.mark.usefixtures("planted")
def test_the_slider_shows_a_version_as_it_stood(owner: Visitor) -> None:
    page = owner.page(f"{_NOTES}?at=2")
    assert 'type="range" min="1" max="3" value="2"' in page
    assert "Calls Ben" in page
    assert "Calls Mira" not in page
    assert "A first list." in page
    assert "Version 2 of 3" in words_of(page)
    assert f'href="/console{_NOTES}?view=lines&amp;at=2"' in page
    assert "Calls Ben" in owner.text(f"{_NOTES}?at=head~1&view=lines")


@pytest.mark.usefixtures("planted")
def test_an_unknown_version_is_refused_in_the_page(owner: Visitor) -> None:
    for query in ("at=99", "at=once+upon", "from=99", "from=1&to=never&as=side"):
        answer = owner.get(f"{_NOTES}?{query}")
        assert answer.status_code in (400, 404)
        assert 'role="alert"' in answer.text
        assert "Who wrote what" in answer.text


@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("words", '- Calls <del class="removed">Ben</del><ins class="added">Mira</ins>'),
        ("side", '<td class="removed"><del>- Calls Ben</del></td>'),
        ("unified", '<div class="added"><ins>+- Calls Mira</ins></div>'),
    ],
)
def test_two_versions_are_compared(owner: Visitor, form: str, shown: str) -> None:
    assert shown in owner.page(f"{_NOTES}?from=2&to=3&as={form}")
    assert shown in owner.page(f"{_NOTES}?from=head~1&as={form}")
    assert "These two are the same" in owner.text(f"{_NOTES}?from=3&as={form}")


@pytest.mark.parametrize("form", ["words", "side", "unified"])
def test_no_character_of_a_document_passes_for_a_change(
    owner: Visitor, planted: Person, root: Path, form: str
) -> None:
    with (root / planted.notes).open("a") as file:
        file.write("- kept\u2028-gone\x0c+came <del>\u202edel\n")
    page = owner.page(f"{_NOTES}?from=head&as={form}")
    assert page.count('class="removed"') == 0
    assert page.count("<ins") == 1
    assert "U+2028" in page
    assert "U+202E" in page


@pytest.mark.usefixtures("ada")
def test_a_single_version_has_nothing_to_compare(owner: Visitor) -> None:
    assert "only one version" in owner.text(f"{_NOTES}?view=compare")


def test_versions_are_listed_page_by_page(owner: Visitor, planted: Person) -> None:
    for number in range(24):
        planted.ok("fs.append", path=planted.notes, text=f"- line {number}")
    first = owner.page(f"{_NOTES}?view=versions")
    assert first.count("<tr>") == 26
    older = re.search('href="/console([^"]*)" rel="next"', first)
    assert older is not None
    second = words_of(owner.page(unescape(older[1])))
    assert "v2 " in second
    assert "A first list." in second


def test_a_version_is_restored_after_a_preview(owner: Visitor, planted: Person) -> None:
    form = _form(owner.page(f"{_NOTES}?do=restore&version=2"))
    assert planted.ok("fs.read", path=planted.notes)["result"].count("Mira") == 1
    answer = owner.post(_NOTES, **form, rationale="Ben after all.")
    assert (answer.status_code, answer.headers["location"]) == (303, f"/console{_NOTES}?done=restore")
    done = owner.text(f"{_NOTES}?done=restore")
    assert "The version is restored" in done
    assert "Calls Ben" in done
    assert "Ben after all." in done


def test_a_form_that_is_sent_twice_is_done_once(owner: Visitor, planted: Person) -> None:
    form = _form(owner.page(f"{_NOTES}?do=restore&version=2"))
    assert [owner.post(_NOTES, **form).status_code for _ in range(2)] == [303, 303]
    assert len(planted.ok("history.log", path=planted.notes)["result"]["versions"]) == 4


def test_a_change_is_undone_after_a_preview(owner: Visitor, planted: Person) -> None:
    event = planted.ok("history.log", path=planted.notes)["result"]["versions"][0]["eventId"]
    page = owner.page(f"{_NOTES}?do=undo&event={event}")
    assert "<ins>+- Calls Ben</ins>" in page
    assert owner.post(_NOTES, **_form(page)).headers["location"].endswith("?done=undo")
    assert "Calls Ben" in owner.text(_NOTES)


def test_an_outdated_preview_does_nothing_and_is_shown_anew(owner: Visitor, planted: Person) -> None:
    form = _form(owner.page(f"{_NOTES}?do=restore&version=2"))
    planted.ok("fs.append", path=planted.notes, text="- Came later")
    answer = owner.post(_NOTES, **form)
    assert answer.status_code == 200
    assert "has changed since you saw the preview" in words_of(answer.text)
    assert "<del>-- Came later</del>" in answer.text
    assert "Came later" in owner.text(_NOTES)
    assert owner.post(_NOTES, **_form(answer.text)).status_code == 303
    assert "Came later" not in owner.text(_NOTES)


def test_a_missing_file_is_shown_and_restored(owner: Visitor, planted: Person, root: Path) -> None:
    (root / planted.notes).unlink()
    assert "The file of this document is missing" in owner.text(_NOTES)
    form = _form(owner.page(f"{_NOTES}?do=restore&version=3"))
    (root / planted.notes).write_text("# Notes\n")
    assert "has changed since" in words_of(owner.post(_NOTES, **form).text)
    (root / planted.notes).unlink()
    assert owner.post(_NOTES, **form).status_code == 303
    assert "Calls Mira" in (root / planted.notes).read_text()


def test_a_damaged_document_says_so_and_is_repaired(owner: Visitor, planted: Person, root: Path) -> None:
    text = (root / planted.notes).read_text()
    (root / planted.notes).write_text(text.replace("<!-- @anchor: inbox v1 -->\n", ""))
    page = owner.page(_NOTES)
    assert "This document is damaged" in words_of(page)
    assert "edits that are not recorded yet" in words_of(page)
    assert 'class="mark' not in owner.page(f"{_NOTES}?blame=yes")
    form = _form(owner.page(f"{_NOTES}?do=repair"))
    assert owner.post(_NOTES, **form).headers["location"].endswith("?done=repair")
    assert (root / planted.notes).read_text() == text


def test_mechanical_findings_are_fixed(owner: Visitor, planted: Person, root: Path) -> None:
    (root / planted.notes).write_text((root / planted.notes).read_text().replace("Mira\n", "Mira \n"))
    assert "1 thing to tidy up" in owner.text(_NOTES)
    form = _form(owner.page(f"{_NOTES}?do=fix"))
    assert owner.post(_NOTES, **form).headers["location"].endswith("?done=fix")
    assert "to tidy up" not in owner.text(_NOTES)


@pytest.mark.usefixtures("planted")
def test_a_reviewer_sees_all_and_is_offered_no_change(reviewer: Visitor) -> None:
    for query in ("", "?view=lines", "?view=versions", "?at=2", "?from=2"):
        page = reviewer.page(_NOTES + query)
        assert "do=" not in page
    refused = reviewer.get(f"{_NOTES}?do=restore&version=2")
    assert refused.status_code == 403
    assert "may not use md.restore" in refused.text
    sent = reviewer.post(_NOTES, do="restore", version="2", key="k", hash="")
    assert sent.status_code in (200, 403)
    assert "Calls Mira" in reviewer.text(_NOTES)


@pytest.mark.parametrize("view", ["", "?view=versions", "?from=1", "?do=fix", "?at=1"])
def test_no_one_sees_another_garden(keeper: Visitor, ben: Person, view: str) -> None:
    answer = keeper.get(f"/documents/{ben.notes}{view}")
    assert answer.status_code == 403
    assert "Inbox" not in answer.text


@pytest.mark.usefixtures("planted")
def test_changes_that_do_not_exist_are_refused(owner: Visitor) -> None:
    assert owner.get(f"{_NOTES}?do=delete").status_code == 404
    assert owner.get(f"{_NOTES}?do=restore&version=x").status_code == 400
    assert owner.get(f"{_NOTES}?do=undo&event=ffffffff").status_code == 404
    assert "done" not in owner.text(f"{_NOTES}?done=%3Cb%3Edone").casefold()
    assert owner.get("/documents/parts/nobody/notes.md").status_code == 404


def test_a_long_document_comes_in_parts(owner: Visitor, planted: Person, root: Path) -> None:
    lines = "".join(f"\n- item {number} " + "of many words " * 20 for number in range(2_000))
    (root / planted.notes).write_text((root / planted.notes).read_text() + lines)
    first = owner.page(_NOTES)
    assert len(first) < 150_000
    assert "Part 1 of" in words_of(first)
    last = owner.page(f"{_NOTES}?line=2013")
    assert "item 1999 " in last
    assert '<li id="L2013">' in last
    assert "item 1999 " in owner.page(f"{_NOTES}?view=lines&blame=no&part=999")


def test_an_address_of_a_section_opens_the_part_that_has_it(owner: Visitor, planted: Person) -> None:
    items = "".join(f"\n- item {number} " + "of many words " * 20 for number in range(400))
    end = "\n\n## At the end\n<!-- @anchor: last_things v1 -->\n\n- Zinnias\n"
    text = planted.ok("fs.read", path=planted.notes)["result"]
    planted.ok("fs.write", path=planted.notes, content=text + items + end)
    assert 'id="last_things"' not in owner.page(_NOTES)
    address = link_to(planted.notes, "last_things v1").removeprefix("/console")
    assert address.endswith("#last_things")
    assert 'id="last_things"' in owner.page(address.partition("#")[0])
    assert "Part 1 of" in owner.text(f"{_NOTES}?section=elsewhere")


def test_a_moved_document_is_followed_to_its_earlier_path(
    service: Service, owner: Visitor, ada: Person
) -> None:
    old, new = (f"users/{ada.user_id}/parts/{name}/notes.md" for name in ("first", "second"))
    ada.ok("md.plant", path=old, rationale="Begun there.")
    with service.person("maintainer", ada.user_id) as maintainer:
        maintainer.ok("fs.move", path=old, newPath=new)
    listed = owner.page("/documents/parts/second/notes.md?view=versions")
    assert "as parts/first/notes.md" in words_of(listed)
    [earlier] = set(
        re.findall('href="/console(/documents/parts/second/notes.md[?]at=[0-9a-f-]{36})"', listed)
    )
    assert "Begun there." in owner.text(earlier)
    assert owner.get("/documents/parts/first/notes.md").status_code == 404


def test_a_limit_that_an_undo_would_exceed_asks_for_a_reason(owner: Visitor, ada: Person) -> None:
    ada.ok("md.plant", path=ada.profile)
    items = [f'"She said {number}" (ev:s1-m{number})' for number in range(1, 9)]
    curate = {"path": ada.profile, "sectionAnchor": "evidence v1", "reason": "r"}
    ada.ok("md.curate_list", **curate, ops="append", items=items, overrideRationale="All of them count.")
    pruned = ada.ok("md.curate_list", **curate, ops="prune", items=[{"match": "ev:s1-m1"}])
    place = f"/documents/parts/critic/profile.md?do=undo&event={pruned['meta']['eventId']}"
    asked = owner.get(place)
    assert asked.status_code == 422
    assert 'name="override"' in asked.text
    page = owner.page(f"{place}&override=It+matters")
    assert owner.post("/documents/parts/critic/profile.md", **_form(page)).status_code == 303
    assert "She said 1" in owner.text("/documents/parts/critic/profile.md")


def test_every_page_obeys_the_rules_of_the_tool_that_shows_the_same(
    service: Service, planted: Person
) -> None:
    pages = {
        "fs.list": "/documents", "fs.read": _NOTES, "history.show": f"{_NOTES}?at=2",
        "history.blame": f"{_NOTES}?view=lines", "history.diff": f"{_NOTES}?from=2",
        "history.log": f"{_NOTES}?view=versions", "lint.check": _NOTES,
        "md.restore": f"{_NOTES}?do=restore&version=2",
    }  # fmt: skip
    for tool, page in pages.items():
        with _with_policy(service, planted, {tool: "deny"}) as juno:
            assert juno.get(page).status_code == 403


def test_a_change_that_needs_an_approval_is_sent_again_after_it(service: Service, planted: Person) -> None:
    with _with_policy(service, planted, {"md.restore": "ask"}) as juno:
        form = {"rationale": "Back.", **_form(juno.page(f"{_NOTES}?do=restore&version=2"))}
        asked = juno.post(_NOTES, **form)
        assert asked.status_code == 403
        assert 'href="/console/approvals"' in asked.text
        decisions, approver = service.garden.decisions, Caller(planted.user_id, "mira", "reviewer")
        [waiting] = decisions.list(approver, state="pending")
        decisions.decide(approver, str(waiting.approval_id), "approved")
        assert juno.post(_NOTES, **{"rationale": "Back.", **_form(asked.text)}).status_code == 303


@contextmanager
def _with_policy(
    service: Service, person: Person, permissions: Mapping[str, Permission]
) -> Iterator[Visitor]:
    """A maintainer whose token has a policy of its own."""
    policy = TokenPolicy(permissions=dict(permissions))
    issued = service.garden.tokens.create(
        person.user_id, role="maintainer", actor="juno", expires_at=None, policy=policy
    )
    with service.client(None) as client:
        client.post("/console/sign-in", data={"token": issued.secret})
        yield Visitor(person.user_id, client)


def _form(page: str) -> dict[str, str]:
    """The hidden fields of a preview."""
    found = re.findall('<input type="hidden" name="([a-z]+)" value="([^"]*)">', page.partition("<main")[2])
    assert ("do" in dict(found)) is True, page
    return {name: unescape(value) for name, value in found}
