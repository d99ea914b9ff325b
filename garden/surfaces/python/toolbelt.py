"""The registry's tools as typed methods: made by tools/python_api.py, anew with `make docs`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Unpack

from garden.surfaces.python.answers import Answer, Correlated, Family, Written
from garden.tools.events import LoggedEvent, Rows
from garden.tools.list_operations import MergeWish, PruneWish
from garden.tools.markdown import Diagnostics, HashesOfChange, HistoryPath, Lint, SectionChange, SectionName
from garden.tools.proposal import Proposal
from garden.tools.read_files import LineRange, Match, Slices
from garden.tools.repair import Repair, Restoration
from garden.tools.tool_help import ToolLine, ToolPage
from garden.tools.wire import NewHash
from garden.tools.write_files import Moved, NewSize


class FsTools(Family):
    """The tools fs.*."""

    def list(self, path: str, *, glob: str | None = None) -> Answer[Sequence[str]]:
        """Lists the documents and folders in a folder of the garden or of its history.

        Start with users/{userId} to see what there is. Folders have no suffix, documents end in
        .md. At most 500 names come back; where there are more, the answer says so.
        """
        return self._run("fs.list", {"path": path, "glob": glob})

    def read(
        self, path: str, *, ranges: Sequence[LineRange | Mapping[str, Any]] | None = None
    ) -> Answer[str | Slices]:
        """Gives the text of a document, or some of its lines.

        Without ranges the text comes from its beginning, at most 500 lines; with ranges, one slice
        for each. meta.documentHash can be given back as ifMatch of an fs.* edit.
        """
        return self._run("fs.read", {"path": path, "ranges": ranges})

    def search(
        self,
        root: str,
        pattern: str,
        *,
        glob: str | None = None,
        ignore_case: bool = False,
        literal: bool = False,
        context: int = 0,
        max_matches: int = 100,
    ) -> Answer[Sequence[Match]]:
        """Finds the lines that match a regular expression, in one document or in a whole folder.

        RE2 syntax, line by line, in time linear in the text. Set literal for plain words,
        ignoreCase to take capitals for small letters, context for lines around. At most 100 matches
        come back.
        """
        return self._run(
            "fs.search",
            {
                "root": root,
                "pattern": pattern,
                "glob": glob,
                "ignore_case": ignore_case,
                "literal": literal,
                "context": context,
                "max_matches": max_matches,
            },
        )

    def hash(self, path: str, *, section_anchor: str | None = None) -> Answer[str]:
        """Gives the hash of a document or of one section; white space at line ends does not change it.

        Give it back as ifMatch, to have an edit refused if somebody else was there in between.
        """
        return self._run("fs.hash", {"path": path, "section_anchor": section_anchor})

    def ensure_dir(self, path: str, **said: Unpack[Written]) -> Answer[None]:
        """Makes a folder of the garden, unless it is there.

        Seldom needed: documents make the folders they stand in. Nothing is ever deleted.
        """
        return self._run("fs.ensure_dir", {"path": path, **said})

    def write(self, path: str, content: str, **said: Unpack[Written]) -> Answer[NewHash]:
        """Puts a new text in the place of a document, or begins one with it.

        Anchors, identity and the Change Log must stay as they are. To change one section,
        md.patch_section is safer; to begin a document, md.plant writes the right frontmatter and
        anchors. Send the hash that you read as ifMatch, or what others wrote since is replaced as
        well.
        """
        return self._run("fs.write", {"path": path, "content": content, **said})

    def append(self, path: str, text: str, **said: Unpack[Written]) -> Answer[NewSize]:
        """Adds an entry at the end of a document, most of all to notes.

        A blank line stands between entries. The end of a document is the end of its last section;
        md.patch_section appends to another one, such as inbox. The same words sent twice are
        recorded once, unless the second request has an idempotencyKey or toolCallId of its own.
        """
        return self._run("fs.append", {"path": path, "text": text, **said})

    def patch(self, path: str, diff_text: str, **said: Unpack[Written]) -> Answer[NewHash]:
        """Applies a unified diff to one document.

        Context lines must match exactly. Where the place is unique, line numbers may be off; a diff
        that fits nowhere, or in two places, is refused, with the nearest text.
        """
        return self._run("fs.patch", {"path": path, "diff_text": diff_text, **said})

    def move(self, path: str, new_path: str, **said: Unpack[Written]) -> Answer[Moved]:
        """Gives a document another path. For maintainers only.

        A profile's frontmatter must fit the new path, so this mends a document that stands in the
        wrong place. Its history stays where it is.
        """
        return self._run("fs.move", {"path": path, "new_path": new_path, **said})


class MdTools(Family):
    """The tools md.*."""

    def list_sections(self, path: str) -> Answer[Sequence[SectionName]]:
        """Lists the sections of a document: anchor, heading and number of the first line of each.

        The anchor is what the other md tools take as sectionAnchor. A section without one has an
        empty anchor, and is named by its heading.
        """
        return self._run("md.list_sections", {"path": path})

    def patch_section(
        self,
        path: str,
        section_anchor: str,
        change: SectionChange | Mapping[str, Any],
        **said: Unpack[Written],
    ) -> Answer[HashesOfChange]:
        """Replaces the body of one section, or appends to it; nothing else in the document changes.

        Heading and anchor stay. The new text holds no H1, no H2 and no anchor comment. In profiles
        and the overview a Change Log line is added by itself, so give a rationale. Others may edit
        other sections at the same time; send the section's hash as ifMatch to be sure that this one
        is as you read it.
        """
        return self._run(
            "md.patch_section", {"path": path, "section_anchor": section_anchor, "change": change, **said}
        )

    def curate_list(
        self,
        path: str,
        section_anchor: str,
        ops: Literal["append", "prune", "merge"] | Sequence[Literal["append", "prune", "merge"]],
        items: Sequence[str | PruneWish | Mapping[str, Any] | MergeWish | Mapping[str, Any]],
        reason: str,
        **said: Unpack[Written],
    ) -> Answer[HashesOfChange]:
        """Appends, prunes and merges the items of a section's list.

        An evidence item is a short quote with a token: '"I can't relax" (ev:s12-m40)'. More than
        seven of them need an overrideRationale. Items stay whole with all that is nested in them;
        one that is not found, or found twice, is refused.
        """
        return self._run(
            "md.curate_list",
            {
                "path": path,
                "section_anchor": section_anchor,
                "ops": ops,
                "items": items,
                "reason": reason,
                **said,
            },
        )

    def snapshot_history(self, path: str, **said: Unpack[Written]) -> Answer[HistoryPath]:
        """Keeps a timestamped copy of a document's current version in its history.

        Edits of profiles and the overview keep the replaced version by themselves. List copies with
        fs.list on history/{userId}/..., read them with fs.read.
        """
        return self._run("md.snapshot_history", {"path": path, **said})

    def lint(self, path: str) -> Answer[Lint]:
        """Says in sentences what is amiss in a document, and whether anything stops edits.

        Warnings never stop an edit by themselves; exceeding a cap further needs an
        overrideRationale.
        """
        return self._run("md.lint", {"path": path})

    def plant(
        self,
        path: str,
        *,
        title: str | None = None,
        participants: Sequence[str] | None = None,
        **said: Unpack[Written],
    ) -> Answer[NewHash]:
        """Begins a document from the template of its kind, with the right frontmatter, sections and anchors.

        The path says the kind. A document that is there is never overwritten. A relationship's
        profile takes participants.
        """
        return self._run("md.plant", {"path": path, "title": title, "participants": participants, **said})

    def repair(self, path: str, **said: Unpack[Written]) -> Answer[Repair]:
        """Puts back the anchors and the identity that an edit from outside took away. For maintainers only.

        Every line of the person's text stays. The last whole version says what is missing: a
        comment goes back below its heading, a section of which nothing is left comes back empty,
        identity keys get their values back, and frontmatter that can't be read is replaced. What
        can't be told for certain is refused; md.restore puts a whole version back instead. A
        document that is whole stays unchanged.
        """
        return self._run("md.repair", {"path": path, **said})

    def restore(
        self,
        path: str,
        *,
        version: int | None = None,
        at: datetime | None = None,
        event: str | None = None,
        **said: Unpack[Written],
    ) -> Answer[Restoration]:
        """Puts the text of an earlier version in a document's place, as a new version. For maintainers only.

        Give one of version, at and event. It works where the file is missing or damaged as well; an
        edit from outside is taken into the account first, so that nobody's text is lost. The Change
        Log keeps what was written in it since. Warnings name the anchors that go. A version that is
        itself damaged is refused.
        """
        return self._run("md.restore", {"path": path, "version": version, "at": at, "event": event, **said})


class LintTools(Family):
    """The tools lint.*."""

    def check(self, path: str) -> Answer[Diagnostics]:
        """Gives every finding about a document as an object, with its rule, severity and place.

        The same findings as md.lint. Severity block stops edits, cap asks for an overrideRationale
        when it grows, style stops nothing.
        """
        return self._run("lint.check", {"path": path})


class EventsTools(Family):
    """The tools events.*."""

    def log(
        self,
        type: str,
        *,
        op: str = "note",
        file_path: str | None = None,
        section_anchor: str | None = None,
        before_hash: str | None = None,
        after_hash: str | None = None,
        details: Mapping[str, Any] | None = None,
        **said: Unpack[Correlated],
    ) -> Answer[LoggedEvent]:
        """Records an observation, a decision or anything else that is no change of a document.

        Edits record themselves. Where toolCallId, transactionId or agentActionId and filePath name
        an edit that was recorded, this becomes an annotation of it, and its eventId is returned.
        """
        return self._run(
            "events.log",
            {
                "type": type,
                "op": op,
                "file_path": file_path,
                "section_anchor": section_anchor,
                "before_hash": before_hash,
                "after_hash": after_hash,
                "details": details,
                **said,
            },
        )

    def query(
        self,
        *,
        path: str | None = None,
        section_anchor: str | None = None,
        type: str | None = None,
        op: str | None = None,
        status: Literal["pending", "written", "committed", "failed"] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        actor: str | None = None,
        tool_call_id: str | None = None,
        transaction_id: str | None = None,
        agent_action_id: str | None = None,
        text: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Answer[Rows]:
        """Finds events, newest first: what changed, when, by whom and why.

        All filters narrow the search. meta.cursor, where there is one, asks for the next page.
        """
        return self._run(
            "events.query",
            {
                "path": path,
                "section_anchor": section_anchor,
                "type": type,
                "op": op,
                "status": status,
                "since": since,
                "until": until,
                "actor": actor,
                "tool_call_id": tool_call_id,
                "transaction_id": transaction_id,
                "agent_action_id": agent_action_id,
                "text": text,
                "limit": limit,
                "cursor": cursor,
            },
        )


class ToolsTools(Family):
    """The tools tools.*."""

    def list(self) -> Answer[Sequence[ToolLine]]:
        """Names every tool, what it is for, and whether you may use it.

        tools.help explains one of them.
        """
        return self._run("tools.list", {})

    def help(self, tool: str) -> Answer[ToolPage]:
        """Gives a tool's description, the schemas of its request and result, and an example.

        The example is a call that can be sent as it stands, once the paths are yours.
        """
        return self._run("tools.help", {"tool": tool})


class Toolbelt(Family):
    """Every tool."""

    @property
    def fs(self) -> FsTools:
        """The tools fs.*."""
        return FsTools(self._dispatcher, self._caller)

    @property
    def md(self) -> MdTools:
        """The tools md.*."""
        return MdTools(self._dispatcher, self._caller)

    @property
    def lint(self) -> LintTools:
        """The tools lint.*."""
        return LintTools(self._dispatcher, self._caller)

    @property
    def events(self) -> EventsTools:
        """The tools events.*."""
        return EventsTools(self._dispatcher, self._caller)

    @property
    def tools(self) -> ToolsTools:
        """The tools tools.*."""
        return ToolsTools(self._dispatcher, self._caller)

    def propose_change(self, tool: str, args: Mapping[str, Any]) -> Answer[Proposal]:
        """Shows what an edit would change and whether anything speaks against it, and changes nothing.

        Give the tool and its arguments as you would send them. A refusal is the one the real call
        would get.
        """
        return self._run("propose_change", {"tool": tool, "args": args})
