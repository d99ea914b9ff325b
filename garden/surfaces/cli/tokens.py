"""The commands `garden token ...`: create, list and revoke access tokens."""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from garden.home.times import parse_expiry
from garden.surfaces.cli.desk import open_garden
from garden.surfaces.cli.options import AsJson, NamedUser

if TYPE_CHECKING:
    from garden.events.tokens import Token
    from garden.gateway.tokens import Tokens

DAYS_DEFAULT = 90
_Phase = Literal["observe", "tend", "maintain"]
_Preset = Literal["strict", "default"]
_Tools = list[str] | None

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Create, list and revoke access tokens.")


@app.command("create")
def create(
    context: typer.Context,
    user: NamedUser,
    role: Annotated[str, typer.Option(metavar="ROLE", help="agent, reviewer or maintainer.")],
    actor: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name recorded as the actor of every event. Default: the role."),
    ] = None,
    expires: Annotated[
        str,
        typer.Option(
            metavar="WHEN", help="30d, 12h, 3 weeks, a date such as 2027-01-01 (midnight, UTC), or never."
        ),
    ] = f"{DAYS_DEFAULT}d",
    phase: Annotated[_Phase | None, typer.Option(help="Most that its calls may do.")] = None,
    preset: Annotated[_Preset | None, typer.Option(help="Rate limits of its calls.")] = None,
    remove: Annotated[_Tools, typer.Option(metavar="TOOL", help="Leave this tool out; repeatable.")] = None,
    ask: Annotated[_Tools, typer.Option(metavar="TOOL", help="Ask before its calls, as 'md.*'.")] = None,
    deny: Annotated[_Tools, typer.Option(metavar="TOOL", help="Refuse its calls; repeatable.")] = None,
    as_json: AsJson = False,
) -> None:
    """Create an access token for one user and one role.

    Prints the token on standard output; it can't be shown again, because only its hash is kept. It expires
    after 90 days unless --expires says otherwise. A reviewer may read, an agent may edit, a maintainer may
    use every tool. A policy narrows that further and never widens it.

    Examples:
    garden token create --user ada --role agent --actor companion

    TOKEN=$(garden token create --user ada --role reviewer --expires 30d)

    garden token create --user ada --role agent --phase observe --preset strict
    """
    from garden.home.settings import TokenPolicy
    from garden.surfaces.cli.render import say, show_json, show_warnings
    from garden.upkeep.status import known_users

    until = _parse_expiry(expires)
    permissions = {**dict.fromkeys(ask or (), "ask"), **dict.fromkeys(deny or (), "deny")}
    policy = TokenPolicy(phase=phase, preset=preset, remove=remove or (), permissions=permissions)
    with open_garden(context) as garden:
        # Ask before the token is made: a token that can't be shown is lost.
        has_begun = user in known_users(garden.services)
        issued = garden.tokens.create(user, role=role, actor=actor or role, expires_at=until, policy=policy)
        shown = _token_fields(garden.tokens, issued.token)
    if as_json:
        show_json({"secret": issued.secret, **shown})
        return
    print(issued.secret)
    lasting = f"until {shown['expires_at']}" if until else "until it is revoked"
    say(f"Token {issued.token.token_id}: for {user}, as {role}, {lasting}.", error=True)
    say("Keep it now: it is not shown again. Callers send it as 'Authorization: Bearer <token>'.", error=True)
    if not has_begun:
        show_warnings([f"There is no garden of {user} yet; 'garden plant --user {user}' begins one."])


@app.command("list")
def list_tokens(
    context: typer.Context,
    user: Annotated[str | None, typer.Option(help="Only this user's tokens.", metavar="ID")] = None,
    as_json: AsJson = False,
) -> None:
    """List all tokens with their status, without secrets.

    Example: garden token list --user ada
    """
    from garden.surfaces.cli.render import show_json, show_table

    with open_garden(context) as garden:
        shown = [_token_fields(garden.tokens, token) for token in garden.tokens.list(user)]
    if as_json:
        show_json(shown)
    elif not shown:
        print("There are no tokens.")
    else:
        names = ("token_id", "user_id", "role", "actor", "created_at", "expires_at", "status")
        headings = ("id", "user", "role", "actor", "created", "expires", "status", "policy")
        policies = (json.dumps(each["policy"]) if each["policy"] else "" for each in shown)
        rows = ([each[name] or "never" for name in names] for each in shown)
        show_table(headings, ([*row, policy] for row, policy in zip(rows, policies, strict=True)))


@app.command("revoke")
def revoke(
    context: typer.Context,
    token_id: Annotated[str, typer.Argument(metavar="ID", help="The token's id, as 'token list' shows it.")],
    user: Annotated[str | None, typer.Option(help="Only if the token is this user's.", metavar="ID")] = None,
    as_json: AsJson = False,
) -> None:
    """Revoke a token for good.

    A running service refuses it within a second. Revoking it again changes nothing.

    Example: garden token revoke 5f0c1a9be2d4
    """
    from garden.surfaces.cli.render import show

    with open_garden(context) as garden:
        shown = _token_fields(garden.tokens, garden.tokens.revoke(token_id, user))
    show(shown, f"Revoked: {token_id}, for {shown['user_id']} as {shown['role']}.", as_json=as_json)


def _token_fields(tokens: "Tokens", token: "Token") -> dict[str, Any]:
    fields = {
        name: value.isoformat(timespec="seconds") if isinstance(value, datetime) else value
        for name, value in asdict(token).items()
    }
    return {**fields, "status": tokens.status(token)}


def _parse_expiry(text: str) -> datetime | None:
    """Parse the time at which a token expires; None means never."""
    if text == "never":
        return None
    try:
        return parse_expiry(text, datetime.now(UTC))
    except (ValueError, OverflowError):
        raise typer.BadParameter(
            f"{text!r} is not a time: give 30d, 12h, 3 weeks, a date such as 2027-01-01, or never",
            param_hint="--expires",
        ) from None
