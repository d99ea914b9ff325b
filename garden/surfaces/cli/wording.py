"""The tools' words put in those of the command line: commands for tools, options for fields."""

import re

COMMANDS = {
    "events.query": "garden events",
    "fs.append": "garden append",
    "fs.hash": "garden call fs.hash",
    "fs.list": "garden ls",
    "fs.patch": "garden patch",
    "fs.read": "garden cat",
    "fs.search": "garden search",
    "lint.check": "garden lint",
    "md.lint": "garden lint",
    "md.patch_section": "garden patch",
    "md.plant": "garden plant",
    "md.repair": "garden repair",
    "md.restore": "garden restore",
    "tools.help": "garden tools",
    "tools.list": "garden tools",
}
OPTIONS = {
    "diffText": "--diff",
    "evidenceRefs": "--evidence",
    "idempotencyKey": "--key",
    "ifMatch": "--if-match",
    "overrideRationale": "--override-rationale",
    "sectionAnchor": "ANCHOR",
}
_TOOL = rf"(?<![\w.])({'|'.join(map(re.escape, COMMANDS))})\b"
# A hint may name the command beside its tool already.
_NAMED = re.compile(rf"{_TOOL}(?: \('garden \w+'\))?")
_FIELD = re.compile(rf"\b({'|'.join(OPTIONS)})\b")
_FIELDS_NEEDED = re.compile(rf"{_TOOL} needs [^;]*; tools\.help .*")


def at_a_shell(words: str) -> str:
    """Put a message or a hint in the words of the command line."""
    words = _FIELDS_NEEDED.sub(lambda found: f"'{COMMANDS[found[1]]} --help' shows what it takes.", words)
    words = _NAMED.sub(lambda found: f"'{COMMANDS[found[1]]}'", words)
    return _FIELD.sub(lambda found: OPTIONS[found[1]], words)
