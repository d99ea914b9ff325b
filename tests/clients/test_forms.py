"""An entry goes into a settings file and out of it, and no byte of anything else changes."""

import json
import tomllib
from collections.abc import Callable
from typing import Any

import pytest

from garden.clients.forms import SettingsForm, UnreadableSettingsError
from garden.clients.json_settings import JsonSettings
from garden.clients.toml_settings import TomlSettings

NAME = "memory-garden"
ENTRY = {"command": "/opt/my programs/garden", "args": ["mcp", "--user", "ada"], "env": {"GARDEN_HOME": "/ü"}}
STRICT, LOOSE = JsonSettings("servers"), JsonSettings("servers", has_comments=True)
TOML = TomlSettings("servers")


def kept(before: str, after: str) -> bool:
    """Whether every character of the text before is in the text after, in its order."""
    rest = iter(after)
    return all(each in rest for each in before if not each.isspace())


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (STRICT, ""), (STRICT, "{}"), (STRICT, '{"a": [1, {"b": "}"}]}'), (STRICT, '{\n\t"a": 1\n}\n'),
        (STRICT, '{\r\n  "servers": {\r\n    "x": {"command": "y"}\r\n  }\r\n}\r\n'),
        (LOOSE, '{ // why\n  "servers": { /* none */ },\n}'),
        (LOOSE, '{"servers": {\n  "x": {"url": "http://y//z,]"}, // last\n  // one more\n}}'),
        (TOML, ""), (TOML, 'model = "x"'), (TOML, '[servers.x]\ncommand = "y"\n# the end\n'),
    ],
)  # fmt: skip
def test_an_entry_is_added_and_all_else_kept(form: SettingsForm, text: str) -> None:
    before = form.servers(text)
    after = form.put(text, NAME, ENTRY)
    assert form.servers(after) == {**before, NAME: ENTRY}
    assert kept(text, after)
    assert "\n" not in after.replace("\r\n", "") if "\r\n" in text else "\r" not in after
    without = form.put(after, NAME, None)
    assert form.servers(without) == before
    assert kept(text, without)


@pytest.mark.parametrize(
    ("form", "text", "parse"),
    [
        (STRICT, '{"servers": {"a": 1, "memory-garden": 5, "b": 6}}', json.loads),
        (TOML, '[servers."memory-garden"]\ncommand = "y"\n[servers.memory-garden.env]\nA = "1"\n\n# z\n[z]\n',
         tomllib.loads),
    ],
)  # fmt: skip
def test_an_entry_of_the_same_name_is_replaced_in_its_place(
    form: SettingsForm, text: str, parse: Callable[[str], Any]
) -> None:
    after = form.put(text, NAME, ENTRY)
    assert parse(after)["servers"][NAME] == ENTRY
    assert list(parse(after)) == list(parse(text))
    assert after.startswith(text[:9])
    assert after.endswith(text[-5:])
    assert NAME not in parse(form.put(after, NAME, None)).get("servers", {})


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (STRICT, "{"), (STRICT, "[]"), (STRICT, '{"servers": []}'), (STRICT, '{"a": 1 // no\n}'),
        (STRICT, '{"a": 1,}'), (STRICT, "[" * 100_000), (LOOSE, '{"a": /* open }'), (TOML, "a = "),
        (TOML, "servers = 5"), (TOML, "servers = {}"), (TOML, 'a = """\n[servers.memory-garden]\n"""\n'),
        (TOML, 'servers = { memory-garden = { command = "x" } }'),
    ],
)  # fmt: skip
def test_a_file_that_is_malformed_or_can_t_be_edited_is_refused(form: SettingsForm, text: str) -> None:
    with pytest.raises(UnreadableSettingsError):
        form.put(text, NAME, ENTRY)
