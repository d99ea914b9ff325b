"""Find the tool that a call names and parse its arguments, or explain what is wrong with them."""

import difflib
import re
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel

from garden.events.records import Caller
from garden.grammar.errors import GardenError
from garden.tools.declaration import Tool
from garden.tools.strict_json import parse_json

_DELETING = re.compile(
    r"delete|remove|unlink|destroy|erase|purge|wipe|trash|shred|truncate|discard|"
    r"(?<![a-z])(?:rm|rmdir|rmtree|del)(?![a-z])",
    re.IGNORECASE,
)
_Form = TypeVar("_Form", bound=BaseModel)
_NESTED = ("opts", "meta")
# The errors of a text where an object or a list would fit.
_NO_TEXT = frozenset({"model_type", "dict_type", "tuple_type"})
_PROBLEMS_MAX = 10
_NAME_CHARACTERS_MAX = 100


class UnknownToolError(GardenError):
    """No tool has this name."""

    code = "unknown_tool"


class NoDeleteToolError(GardenError):
    """The name asks for a deletion, which no tool offers."""

    code = "delete_not_allowed"


class InvalidRequestError(GardenError):
    """The request is not of the form that is asked for."""

    code = "invalid_input"


class ToolNotAllowedError(GardenError):
    """The caller's role or policy does not have the tool."""

    code = "permission_denied"


def find_tool(tools: Mapping[str, Tool[Any]], name: str) -> Tool[Any]:
    """Find a tool by its name; an underscore may replace the dot."""
    if not isinstance(name, str):
        raise UnknownToolError("A tool's name must be text.", hint="tools.list names every tool.")
    found = tools.get(name) or tools.get(name.replace("_", ".", 1))
    if found is not None:
        return found
    plain = {each.replace(".", "_"): each for each in tools}
    if name in plain:
        return tools[plain[name]]
    if _DELETING.search(name):
        raise NoDeleteToolError(
            "No tool deletes documents.",
            hint="To remove text, replace the section or prune the list; the history keeps earlier versions. "
            "A maintainer erases words for good with garden.erase.",
        )
    asked = name[:_NAME_CHARACTERS_MAX].replace(".", "_").lower()
    close = [plain[each] for each in difflib.get_close_matches(asked, plain, n=1, cutoff=0.5)]
    raise UnknownToolError(
        "No tool has this name.",
        hint=f"Did you mean {close[0]}?" if close else "tools.list names every tool.",
        details={"nearest": close[0]} if close else {},
    )


def check_role(tool: Tool[Any], caller: Caller) -> None:
    """Refuse a caller whose role may not use the tool."""
    if caller.role not in tool.traits.roles:
        raise ToolNotAllowedError(
            f"The role {caller.role} may not use {tool.name}.",
            hint=f"Roles that may use it: {', '.join(sorted(tool.traits.roles))}.",
        )


def parse_request(tool: Tool[Any], args: object) -> Any:
    """Validate a call's arguments."""
    if not isinstance(args, Mapping):
        raise InvalidRequestError("The arguments must be a JSON object.", hint=_hint(tool))
    fields = _flatten_options(tool, args)
    try:
        return _validate(tool, fields)
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False)[:_PROBLEMS_MAX]
        problems = [_problem(each) for each in found]
        shown = "; ".join(f"{each['field']}: {each['problem']}" for each in problems)
        raise InvalidRequestError(
            f"{tool.name} does not accept these arguments: {shown}.",
            hint=_hint(tool),
            details={"problems": problems},
        ) from None


def parse_form(form: type[_Form], request: object, name: str, hint: str) -> _Form:
    """Validate a request that is no call of a single tool."""
    try:
        return form.model_validate(request)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        field = short_name(".".join(map(str, first["loc"]))) or "the request"
        raise InvalidRequestError(
            f"This is no {name}: {field}: {first['msg']}.", hint=hint, details={"field": field}
        ) from None


def _validate(tool: Tool[Any], fields: dict[str, Any]) -> Any:
    """Validate the fields; where only an object or a list fits, its JSON as text is understood as well."""
    try:
        return tool.request.model_validate(fields)
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False)
        texts = {each["loc"][0] for each in found if each["type"] in _NO_TEXT}
        read = {name: _container(value) for name, value in fields.items() if name in texts}
        if not read:
            raise
        return tool.request.model_validate(fields | read)


def _container(value: object) -> object:
    """The object or list whose JSON a text is, or else the value itself."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return parse_json(value)
    except ValueError:
        return value


def _flatten_options(tool: Tool[Any], args: Mapping[Any, Any]) -> dict[str, Any]:
    """Merge the fields of `opts` and `meta` with the others, all in the wire's spelling."""
    if tool.fields.issuperset(args):
        return dict(args)
    given = [(name, value) for name, value in args.items() if name not in _NESTED]
    for nested in _NESTED:
        options = {} if args.get(nested) is None else _container(args[nested])
        if not isinstance(options, Mapping):
            raise InvalidRequestError(f"{nested} must be a JSON object.", hint=_hint(tool))
        given += options.items()
    fields: dict[str, Any] = {}
    names: dict[str, str] = {}
    for name, value in given:
        field = _field_name(tool, str(name))
        if field in fields:
            both = dict.fromkeys(map(short_name, (names[field], str(name))))
            shown = f" ({' and '.join(both)})" if len(both) > 1 else ""
            raise InvalidRequestError(
                f"{tool.name} does not accept these arguments: {short_name(field)} is given twice{shown}.",
                hint="Give each field once.",
            )
        fields[field], names[field] = value, str(name)
    return fields


def _field_name(tool: Tool[Any], name: str) -> str:
    """The wire name of a field that a caller names in snake_case or by another name."""
    others: Mapping[str, str] = tool.request.other_names
    known = {*tool.fields, *others}
    camel = name if name in known or to_camel(name) not in known else to_camel(name)
    return others.get(camel, camel)


def short_name(name: str) -> str:
    """A caller's name for a field, shortened and without control characters."""
    shown = name if len(name) <= _NAME_CHARACTERS_MAX else name[: _NAME_CHARACTERS_MAX - 1] + "…"
    return shown if shown.isprintable() else ascii(shown)


def _problem(error: Mapping[str, Any]) -> dict[str, str]:
    field = short_name(".".join(str(part) for part in error["loc"] if "[" not in str(part)))
    kind = error["type"]
    if kind == "extra_forbidden":
        return {"field": field, "problem": "no such field"}
    if kind == "missing":
        return {"field": field, "problem": "it is missing"}
    if kind in {"model_type", "dict_type"}:
        return {"field": field, "problem": "it should be an object"}
    if kind == "tuple_type":
        return {"field": field, "problem": "it should be a list"}
    if kind in {"too_short", "too_long"}:
        return {"field": field, "problem": _wrong_length(kind, error["ctx"])}
    message = str(error["msg"]).removeprefix("Value error, ")
    return {"field": field or "the request", "problem": message[:1].lower() + message[1:]}


def _wrong_length(kind: str, known: Mapping[str, Any]) -> str:
    bound, count = ("least", known["min_length"]) if kind == "too_short" else ("most", known["max_length"])
    return f"it should have at {bound} {count} item{'' if count == 1 else 's'}"


def _hint(tool: Tool[Any]) -> str:
    fields = tool.request.model_fields
    required = [field.alias or to_camel(name) for name, field in fields.items() if field.is_required()]
    needs = f"{tool.name} needs {', '.join(required)}" if required else f"{tool.name} needs no field"
    return f"{needs}; tools.help with this tool's name shows every field and an example."
