"""Prompts for a companion's recurring work; their wording is in `texts`."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import ClassVar

import mcp_types as types

from garden.application import Garden
from garden.files.errors import FileMissingError
from garden.files.paths import parse_path
from garden.grammar.errors import GardenError
from garden.home.local_day import today_in
from garden.session import Session
from garden.surfaces.mcp.resources import MARKDOWN, uri_of
from garden.surfaces.mcp.texts import render_text
from garden.tools.declaration import WRITERS
from garden.writing.callers import Role

ARGUMENT_CHARACTERS_MAX = 4000
_REVIEWED_DAYS = 7

Arguments = Mapping[str, str]
Messages = Iterator[types.ContentBlock]


class PromptNotForRoleError(GardenError):
    """Every prompt ends in a change, which this role may not make."""

    code: ClassVar[str] = "permission_denied"


class InvalidPromptError(GardenError):
    """No such prompt exists, or it can't be rendered with these arguments."""

    code: ClassVar[str] = "invalid_input"


@dataclass(frozen=True)
class Prompt:
    """A prompt: its purpose, its arguments, and the function that writes its messages."""

    name: str
    title: str
    description: str
    arguments: tuple[types.PromptArgument, ...]
    write: Callable[[Garden, Session, Arguments], Messages]

    @property
    def definition(self) -> types.Prompt:
        """The prompt as the protocol describes it."""
        return types.Prompt(
            name=self.name,
            title=self.title,
            description=self.description,
            arguments=list(self.arguments),
        )


def prompts_for(role: Role) -> list[types.Prompt]:
    """Describe the prompts for a role; all of them end in a change."""
    return [prompt.definition for prompt in PROMPTS.values()] if role in WRITERS else []


def render_prompt(garden: Garden, session: Session, name: str, given: Arguments) -> types.GetPromptResult:
    """Render a prompt with these arguments."""
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise InvalidPromptError("No such prompt exists.", hint=f"The prompts are: {', '.join(PROMPTS)}.")
    if session.caller.role not in WRITERS:
        raise PromptNotForRoleError(
            f"{name} is not for the role {session.caller.role}.",
            hint=f"Its roles: {', '.join(sorted(WRITERS))}.",
        )
    known = {argument.name: argument for argument in prompt.arguments}
    missing = [each for each in _required(prompt) if not given.get(each, "").strip()]
    if missing or set(given) - set(known):
        raise InvalidPromptError(
            f"{name} can't be rendered with these arguments.",
            hint=f"It takes {', '.join(known)}; required: {', '.join(_required(prompt)) or 'none'}.",
        )
    if any(len(value) > ARGUMENT_CHARACTERS_MAX for value in given.values()):
        raise InvalidPromptError(
            f"An argument is longer than {ARGUMENT_CHARACTERS_MAX} characters.", hint="Use fewer words."
        )
    contents = prompt.write(garden, session, {each: value for each, value in given.items() if value.strip()})
    return types.GetPromptResult(
        description=prompt.description,
        messages=[types.PromptMessage(role="user", content=content) for content in contents],
    )


def _required(prompt: Prompt) -> list[str]:
    return [argument.name for argument in prompt.arguments if argument.required]


def _update_section(garden: Garden, session: Session, given: Arguments) -> Messages:
    document = _path(session, given["document"])
    exists = _exists(session, document)
    yield _text(
        "update_profile_section",
        document=document,
        section=given["section"].strip(),
        learnt=_quoted(given["learnt"]),
        begin="Read the section in the document below."
        if exists
        else "Create the document with md_plant: it does not exist yet.",
    )
    yield from _embedded(garden, session, document)


def _capture_observation(garden: Garden, session: Session, given: Arguments) -> Messages:
    about = given.get("about")
    notes = _path(session, f"{about.strip()}/notes.md" if about else "notes.md")
    yield _text(
        "capture_observation",
        observation=_quoted(given["observation"]),
        notes=notes,
        today=today_in(garden.settings.timezone),
        begin="" if _exists(session, notes) else "Create the notes with md_plant: they do not exist yet. ",
    )


def _weekly_review(garden: Garden, session: Session, given: Arguments) -> Messages:
    user = session.caller.user_id
    yield _text("weekly_review", user=user, since=_since(garden, given.get("since")).isoformat())
    yield from _embedded(garden, session, f"users/{user}/overview.md")


def _since(garden: Garden, given: str | None) -> date:
    if given is None:
        today = date.fromisoformat(today_in(garden.settings.timezone))
        return today - timedelta(days=_REVIEWED_DAYS)
    try:
        return date.fromisoformat(given.strip())
    except ValueError:
        raise InvalidPromptError("since is not a date.", hint="Write it as 2026-11-18.") from None


def _path(session: Session, given: str) -> str:
    """Parse a document's name, given with or without the user's folder."""
    user = session.caller.user_id
    below = given.strip().removeprefix(f"users/{user}/")
    return parse_path(f"users/{user}/{below}", owner=user).text


def _exists(session: Session, path: str) -> bool:
    try:
        session.fs.hash(path)
    except FileMissingError:
        return False
    return True


def _embedded(garden: Garden, session: Session, path: str) -> Messages:
    if _exists(session, path):
        text = garden.lookups.text(session.access, path).text
        yield types.EmbeddedResource(
            resource=types.TextResourceContents(uri=uri_of(path), mime_type=MARKDOWN, text=text)
        )


def _quoted(words: str) -> str:
    return "\n".join(f"> {line}" for line in words.strip().splitlines())


def _text(name: str, **values: str) -> types.TextContent:
    return types.TextContent(text=render_text(name, **values))


def _argument(name: str, description: str, *, required: bool) -> types.PromptArgument:
    return types.PromptArgument(name=name, description=description, required=required)


_ALL = (
    Prompt(
        "update_profile_section",
        "Update a profile section",
        "Bring one section of a profile or the overview up to date.",
        (
            _argument("document", "The document: parts/critic/profile.md, overview.md.", required=True),
            _argument("section", "The section's anchor: concerns v1.", required=True),
            _argument("learnt", "The new knowledge and its source.", required=True),
        ),
        _update_section,
    ),
    Prompt(
        "capture_observation",
        "Capture an observation",
        "Write an observation into the right notes, and into a profile only if it is new and lasting.",
        (
            _argument("observation", "The person's words, or what was seen.", required=True),
            _argument(
                "about",
                "A part or relationship: parts/critic, relationships/pair. Default: the person.",
                required=False,
            ),
        ),
        _capture_observation,
    ),
    Prompt(
        "weekly_review",
        "Weekly review",
        "Review the events since a day, update the profiles, and summarise the week.",
        (_argument("since", "The first day, as 2026-11-18. Default: a week ago.", required=False),),
        _weekly_review,
    ),
)

PROMPTS: Mapping[str, Prompt] = {prompt.name: prompt for prompt in _ALL}
