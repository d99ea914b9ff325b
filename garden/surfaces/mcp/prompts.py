"""Prompts for what a companion does again and again; their words stand in `texts`."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import ClassVar

import mcp_types as types

from garden.application import Garden
from garden.files.errors import FileMissingError
from garden.files.paths import parse_path
from garden.grammar.errors import GardenError
from garden.session import Session
from garden.surfaces.mcp.resources import MARKDOWN, uri_of
from garden.surfaces.mcp.texts import filled_in
from garden.tools.declaration import TENDERS
from garden.writing.callers import Role

ARGUMENT_CHARACTERS_MAX = 4000
_REVIEWED_DAYS = 7

Arguments = Mapping[str, str]
Messages = Iterator[types.ContentBlock]


class PromptNotForRoleError(GardenError):
    """The prompt ends in a change, and the caller may make none."""

    code: ClassVar[str] = "permission_denied"


class InvalidPromptError(GardenError):
    """There is no such prompt, or it can't be made of these arguments."""

    code: ClassVar[str] = "invalid_input"


@dataclass(frozen=True)
class Prompt:
    """A prompt: what it is for, what it asks to be told, and the words it is made of."""

    name: str
    title: str
    description: str
    arguments: tuple[types.PromptArgument, ...]
    write: Callable[[Garden, Session, Arguments], Messages]

    @property
    def described(self) -> types.Prompt:
        """The prompt as the protocol describes it."""
        return types.Prompt(
            name=self.name,
            title=self.title,
            description=self.description,
            arguments=list(self.arguments),
        )


def prompts_for(role: Role) -> list[types.Prompt]:
    """Describe the prompts that callers of a role can follow: they all end in a change."""
    return [prompt.described for prompt in PROMPTS.values()] if role in TENDERS else []


def written(garden: Garden, session: Session, name: str, given: Arguments) -> types.GetPromptResult:
    """Write a prompt out."""
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise InvalidPromptError("There is no such prompt.", hint=f"There are: {', '.join(PROMPTS)}.")
    if session.caller.role not in TENDERS:
        raise PromptNotForRoleError(
            f"{name} is not for the role {session.caller.role}.",
            hint=f"It is for: {', '.join(sorted(TENDERS))}.",
        )
    known = {argument.name: argument for argument in prompt.arguments}
    missing = [each for each in _needed(prompt) if not given.get(each, "").strip()]
    if missing or set(given) - set(known):
        raise InvalidPromptError(
            f"{name} can't be made of these arguments.",
            hint=f"It takes {', '.join(known)}; needed: {', '.join(_needed(prompt)) or 'none'}.",
        )
    if any(len(value) > ARGUMENT_CHARACTERS_MAX for value in given.values()):
        raise InvalidPromptError(
            f"An argument is longer than {ARGUMENT_CHARACTERS_MAX} characters.", hint="Say it in fewer words."
        )
    contents = prompt.write(garden, session, {each: value for each, value in given.items() if value.strip()})
    return types.GetPromptResult(
        description=prompt.description,
        messages=[types.PromptMessage(role="user", content=content) for content in contents],
    )


def _needed(prompt: Prompt) -> list[str]:
    return [argument.name for argument in prompt.arguments if argument.required]


def _update_section(garden: Garden, session: Session, given: Arguments) -> Messages:
    document = _path(session, given["document"])
    there = _is_there(session, document)
    yield _text(
        "update_profile_section",
        document=document,
        section=given["section"].strip(),
        learnt=_quoted(given["learnt"]),
        begin="Read the section as it stands, in the document below."
        if there
        else "Begin the document with md_plant: it is not there yet.",
    )
    yield from _embedded(garden, session, document)


def _capture_observation(_garden: Garden, session: Session, given: Arguments) -> Messages:
    about = given.get("about")
    notes = _path(session, f"{about.strip()}/notes.md" if about else "notes.md")
    yield _text(
        "capture_observation",
        observation=_quoted(given["observation"]),
        notes=notes,
        today=_today().isoformat(),
        begin="" if _is_there(session, notes) else "Begin the notes with md_plant: they are not there yet. ",
    )


def _weekly_review(garden: Garden, session: Session, given: Arguments) -> Messages:
    user = session.caller.user_id
    yield _text("weekly_review", user=user, since=_since(given.get("since")).isoformat())
    yield from _embedded(garden, session, f"users/{user}/overview.md")


def _today() -> date:
    return datetime.now(UTC).date()


def _since(given: str | None) -> date:
    if given is None:
        return _today() - timedelta(days=_REVIEWED_DAYS)
    try:
        return date.fromisoformat(given.strip())
    except ValueError:
        raise InvalidPromptError("since is no date.", hint="Write it as 2026-11-18.") from None


def _path(session: Session, given: str) -> str:
    """Understand a document that is named with or without the user's folder."""
    user = session.caller.user_id
    below = given.strip().removeprefix(f"users/{user}/")
    return parse_path(f"users/{user}/{below}", owner=user).text


def _is_there(session: Session, path: str) -> bool:
    try:
        session.fs.hash(path)
    except FileMissingError:
        return False
    return True


def _embedded(garden: Garden, session: Session, path: str) -> Messages:
    if _is_there(session, path):
        text = garden.lookups.text(session.caller, path).text
        yield types.EmbeddedResource(
            resource=types.TextResourceContents(uri=uri_of(path), mime_type=MARKDOWN, text=text)
        )


def _quoted(words: str) -> str:
    return "\n".join(f"> {line}" for line in words.strip().splitlines())


def _text(name: str, **values: str) -> types.TextContent:
    return types.TextContent(text=filled_in(name, **values))


def _argument(name: str, description: str, *, required: bool) -> types.PromptArgument:
    return types.PromptArgument(name=name, description=description, required=required)


_ALL = (
    Prompt(
        "update_profile_section",
        "Update a profile section",
        "Brings one section of a profile or the overview up to date with something that was learnt.",
        (
            _argument("document", "The document: parts/critic/profile.md, overview.md.", required=True),
            _argument("section", "The section's anchor: concerns v1.", required=True),
            _argument("learnt", "What was learnt, and from where.", required=True),
        ),
        _update_section,
    ),
    Prompt(
        "capture_observation",
        "Capture an observation",
        "Writes something that was said or seen into the notes it belongs to, and nowhere else without need.",
        (
            _argument("observation", "What was said or seen.", required=True),
            _argument(
                "about",
                "Whom it is about: parts/critic, relationships/pair; else the person.",
                required=False,
            ),
        ),
        _capture_observation,
    ),
    Prompt(
        "weekly_review",
        "Weekly review",
        "Goes through what happened since a day, brings the profiles up to date, and sums the week up.",
        (_argument("since", "The first day, as 2026-11-18; else a week ago.", required=False),),
        _weekly_review,
    ),
)

PROMPTS: Mapping[str, Prompt] = {prompt.name: prompt for prompt in _ALL}
