"""The commands `garden recall ...`: search, and rebuild and verify the rows that are searched."""

from typing import TYPE_CHECKING, Annotated

import typer

from garden.surfaces.cli import options as common
from garden.surfaces.cli.desk import open_garden, select_users
from garden.surfaces.cli.options import AsJson, OneUser
from garden.surfaces.cli.typer_classes import GroupWithDefault, TextCommand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from garden.recall.rebuilding import DocumentRows

app = typer.Typer(
    cls=GroupWithDefault,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Find passages, as in: garden recall WORDS. 'garden recall search --help' lists the filters.",
)
_All = Annotated[bool, typer.Option("--all", help="Rebuild documents that are current, too.")]

_Words = Annotated[list[str], typer.Argument(metavar="WORDS", help="What to find, in any language.")]
_Explain = Annotated[bool, typer.Option("--explain", help="Show each signal's share of the scores.")]


@app.command(cls=TextCommand)
def search(
    context: typer.Context, words: _Words, limit: common.Limit = 10, category: common.Categories = None,
    kind: common.Kinds = None, path: common.Paths = None, tag: common.Tags = None,
    since: common.FromDay = None, until: common.ToDay = None, as_of: common.AsOf = None,
    explain: _Explain = False, user: common.User = None, as_json: AsJson = False,
) -> None:  # fmt: skip
    """Find what was written, best first, by its words and its meaning.

    `garden recall WORDS` is enough; words that name a command go after --. Exit code 1 if nothing is found.

    Examples:
    garden recall "what did she say of the deadline"

    garden recall search deadline --from 30d --explain
    """
    from garden.surfaces.cli.hits import find_and_show
    from garden.surfaces.cli.render import say, show_hint

    found = find_and_show(
        context, "memory.recall", user, path, as_json=as_json, query=" ".join(words), limit=limit,
        categories=category, kinds=kind, tags=tag, fromDay=since, to=until, asOf=as_of,
        explain=explain or None,
    )  # fmt: skip
    if not found["memories"]:
        if not as_json:
            say("No passage is found.", error=True)
            show_hint("Try other words or fewer filters; 'garden search' finds an exact text.")
        raise typer.Exit(1)


@app.command()
def rebuild(
    context: typer.Context, user: OneUser = None, everything: _All = False, as_json: AsJson = False
) -> None:
    """Make the rows of documents again whose newest version recall does not show.

    The service may run meanwhile; it does the same by itself after a while. A rebuild that was killed goes
    on with the documents that are left. Exit code 1 if a document was refused.

    Examples:
    garden recall rebuild

    garden recall rebuild --all --user ada
    """
    from garden.recall.rebuilding import documents_behind, rebuild, recalled_documents
    from garden.surfaces.cli.render import with_progress

    find = recalled_documents if everything else documents_behind
    with open_garden(context) as garden:
        paths = [path for name in select_users(garden, user) for path in find(garden.services, name)]
        done = [rebuild(garden.services, path) for path in with_progress(paths, "Rebuilding")]
    _show(done, as_json=as_json)


@app.command()
def verify(context: typer.Context, user: OneUser = None, as_json: AsJson = False) -> None:
    """Verify that recall's rows are what the documents say; change nothing.

    Names the first passage of each document whose row differs. A file that was edited outside the tools is
    judged by its last recorded version. Exit code 1 if a row differs; `garden recall rebuild --all` makes
    every row again.

    Example: garden recall verify --user ada
    """
    from garden.recall.rebuilding import recalled_documents
    from garden.recall.verification import verify
    from garden.surfaces.cli.render import with_progress

    with open_garden(context) as garden:
        users = select_users(garden, user)
        paths = [path for name in users for path in recalled_documents(garden.services, name)]
        found = [verify(garden.services, path) for path in with_progress(paths, "Verifying")]
    _show(found, as_json=as_json)


def _show(done: "Sequence[DocumentRows]", *, as_json: bool) -> None:
    from garden.surfaces.cli.render import say, show_json

    problems = [each for each in done if each.problem]
    if as_json:
        show_json([each._asdict() for each in done])
    else:
        for each in problems:
            say(f"{each.path}: {each.problem}")
        passages = sum(each.passages for each in done)
        say(f"{passages} passages of {len(done)} documents; {len(problems)} documents with a problem.")
    if problems:
        raise typer.Exit(1)
