"""Ways out of a folder that file servers have fallen for: paths to refuse, and links to plant.

`ADA` is the user who asks and `BEN` is another user; both ids are allowed ones. Every entry has a name that
says which weakness it stands for, so that a failing test is understood from its title.
"""

from dataclasses import dataclass
from pathlib import Path

ADA = "ada"
BEN = "ben"
PART = "critic"
DOCUMENT = f"users/{ADA}/parts/{PART}/profile.md"


@dataclass(frozen=True)
class Attack:
    """A path that no garden holds."""

    name: str
    path: str


@dataclass(frozen=True)
class Plant:
    """A link put in place of the component with this index of `DOCUMENT`.

    `outside` is a folder beside the home with the same tree below it; the real thing waits as `-aside` beside
    the link.
    """

    name: str
    component: int
    target: str

    def target_in(self, home: Path) -> str:
        """The target of the link in this home."""
        here = "/".join(DOCUMENT.split("/")[: self.component + 1])
        return self.target.format(
            home=home,
            outside=home.parent / "outside",
            up="../" * (self.component + 1),
            within="../" * self.component,
            here=here,
            there=here.replace(f"/{ADA}", f"/{BEN}"),
        )


_PREFIXES = {
    "a sibling that begins like users": f"users-evil/{ADA}/notes.md",
    "a sibling that begins like users, and a dot": f"users.evil/{ADA}/notes.md",
    "a sibling with users and a number": f"users2/{ADA}/notes.md",
    "users and the id in one": f"users{ADA}/notes.md",
    "a sibling that begins like history": f"history-evil/{ADA}/notes",
    "users in a folder": f"home/users/{ADA}/notes.md",
    "users twice": f"users/users/{ADA}/notes.md",
    "parts with more letters": f"users/{ADA}/parts-evil/{PART}/notes.md",
    "part, singular": f"users/{ADA}/part/{PART}/notes.md",
    "another suffix behind the document": f"users/{ADA}/notes.md.bak",
    "a suffix behind the document without a dot": f"users/{ADA}/notes.mdx",
    "a tilde behind the document": f"users/{ADA}/notes.md~",
    "a prefix before the document": f"users/{ADA}/xnotes.md",
    "a document of another kind": f"users/{ADA}/secrets.md",
    "a document without its suffix": f"users/{ADA}/notes",
    "a profile where only parts have one": f"users/{ADA}/profile.md",
    "an overview where only users have one": f"users/{ADA}/parts/{PART}/overview.md",
    "something below a document": f"users/{ADA}/notes.md/notes.md",
    "a folder in a part": f"users/{ADA}/parts/{PART}/notes/notes.md",
    "a part in a part": f"users/{ADA}/parts/{PART}/parts/{PART}/notes.md",
    "the service's own keys": ".garden/keys",
    "the service's own identity": ".garden/home.json",
    "the service's own state below users": f"users/{ADA}/.garden/keys",
    "a hidden file": f"users/{ADA}/.env",
    "a temporary file of a write": f"users/{ADA}/.new-notes.md-0123456789abcdef",
    "the settings": "garden.toml",
    "all users": "users",
    "all history": "history",
    "nothing": "",
    "a single blank": " ",
    "a star": f"users/{ADA}/*.md",
    "a star for the user": "users/*/notes.md",
    "a question mark": f"users/{ADA}/note?.md",
    "braces": f"users/{{{ADA},{BEN}}}/notes.md",
    "a bracket": f"users/[a-z]{ADA}/notes.md",
    "a query": f"users/{ADA}/notes.md?version=1",
    "a fragment": f"users/{ADA}/notes.md#top",
    "a path parameter": f"users/{ADA};x=1/notes.md",
    "a path parameter with dots": f"users/..;/{BEN}/notes.md",
    "an unfilled placeholder": "users/{userId}/notes.md",
    "a shell's variable": "users/$USER/notes.md",
    "a shell's command": f"users/`id`/{ADA}/notes.md",
    "two paths": f"users/{ADA}/notes.md:users/{BEN}/notes.md",
    "two paths with a comma": f"users/{ADA}/notes.md,users/{BEN}/notes.md",
}

_DOTS = {
    "up": f"../users/{BEN}/notes.md",
    "up alone": "..",
    "here alone": ".",
    "here first": f"./users/{ADA}/notes.md",
    "here in the middle": f"users/./{ADA}/notes.md",
    "here at the end": f"users/{ADA}/.",
    "up at the end": f"users/{ADA}/..",
    "users and up": "users/../.garden/keys",
    "users, up and users again": f"users/../users/{ADA}/notes.md",
    "into another garden": f"users/{ADA}/../{BEN}/notes.md",
    "into another garden from deep down": f"users/{ADA}/parts/{PART}/../../../{BEN}/notes.md",
    "out of the home": f"users/{ADA}/../../../etc/passwd",
    "out by many": "../" * 20 + "etc/passwd",
    "up from a document": f"users/{ADA}/notes.md/../overview.md",
    "up from a part that does not exist": f"users/{ADA}/parts/nobody/../{PART}/notes.md",
    "up out of history": f"history/{ADA}/../../users/{BEN}/notes.md",
    "the traversal is the user id": "users/../notes.md",
    "the traversal is the part id": f"users/{ADA}/parts/../notes.md",
    "the traversal is the part id, twice over": f"users/{ADA}/parts/../../{BEN}/notes.md",
    "the traversal is the relationship id": f"users/{ADA}/relationships/../notes.md",
    "the traversal is within the id": f"users/{ADA}..{BEN}/notes.md",
    "an id of two dots and a word": f"users/..{BEN}/notes.md",
    "an id of one dot and a word": f"users/.{ADA}/notes.md",
    "four dots and two slashes, which a filter turns into up": f"....//....//{BEN}/notes.md",
    "dots left after one removal of up": f"users/{ADA}/..././{BEN}/notes.md",
    "three dots": f"users/{ADA}/.../notes.md",
    "four dots": f"users/{ADA}/..../notes.md",
    "up with a blank behind it": f"users/{ADA}/.. /{BEN}/notes.md",
    "up with a blank before it": f"users/{ADA}/ ../{BEN}/notes.md",
    "up with a blank inside": f"users/{ADA}/. ./{BEN}/notes.md",
    "up with a semicolon": f"users/{ADA}/..;/{BEN}/notes.md",
    "up with a zero byte in the middle": f"users/{ADA}/.\0./{BEN}/notes.md",
}

_SLASHES = {
    "a doubled slash": f"users//{ADA}/notes.md",
    "a doubled slash before the name": f"users/{ADA}//notes.md",
    "a slash behind a document": f"users/{ADA}/notes.md/",
    "a slash behind a folder": f"users/{ADA}/",
    "two slashes behind a folder": f"users/{ADA}//",
    "an empty user id": "users//notes.md",
    "an empty part id": f"users/{ADA}/parts//notes.md",
    "backslashes for slashes": f"users\\{ADA}\\notes.md",
    "a single backslash": f"users/{ADA}\\notes.md",
    "up with backslashes": f"users/{ADA}/..\\..\\{BEN}\\notes.md",
    "up with a backslash, then a slash": f"users/{ADA}/..\\/{BEN}/notes.md",
    "an escaped slash": f"users\\/{ADA}\\/notes.md",
    "an escaped dot": f"users/{ADA}/\\../{BEN}/notes.md",
    "a backslash behind the document": f"users/{ADA}/notes.md\\",
}

_ABSOLUTE = {
    "absolute": "/etc/passwd",
    "absolute, as if the home were the root": f"/users/{ADA}/notes.md",
    "two slashes first": f"//users/{ADA}/notes.md",
    "three slashes first": f"///users/{ADA}/notes.md",
    "the root": "/",
    "a home folder": "~/notes.md",
    "a user's home folder": "~root/.ssh/id_rsa",
    "a tilde as the user": "users/~/notes.md",
    "the process's own working folder": "/proc/self/cwd/notes.md",
    "the process's own root": "/".join(("", "proc", "self", "root", "etc", "passwd")),
    "the process's own handles": "/proc/self/fd/3",
    "the process's own environment": "/proc/self/environ",
    "the process's own handles, relative": "proc/self/fd/3",
    "a device": "/dev/stdin",
    "a device that never ends": "/dev/zero",
    "a drive": "C:/Windows/win.ini",
    "a drive with backslashes": "C:\\Windows\\win.ini",
    "a drive without a slash": f"C:users/{ADA}/notes.md",
    "a share": "\\\\server\\share\\notes.md",
    "a share with slashes": "//server/share/notes.md",
    "a Windows device path": "\\\\?\\C:\\Windows\\win.ini",
    "a Windows device": f"users/{ADA}/CON",
    "an alternate data stream": f"users/{ADA}/notes.md::$DATA",
    "a URL of a file": f"file://users/{ADA}/notes.md",
    "a URL of an absolute file": "file:///etc/passwd",
    "a URL of a file in capitals": "FILE:///etc/passwd",
    "a URL of the web": f"https://example.org/users/{ADA}/notes.md",
    "a PHP filter": f"php://filter/resource=users/{ADA}/notes.md",
    "a zip's inside": f"zip://users/{ADA}/notes.md#notes.md",
    "data in the path": "data:text/plain,notes",
}

_ENCODED = {
    "up, encoded": f"users/{ADA}/%2e%2e/{BEN}/notes.md",
    "up, encoded in capitals": f"users/{ADA}/%2E%2E/{BEN}/notes.md",
    "up, half encoded": f"users/{ADA}/.%2e/{BEN}/notes.md",
    "an encoded slash": f"users/{ADA}%2fnotes.md",
    "up and slash, encoded": f"users/{ADA}/%2e%2e%2f{BEN}%2fnotes.md",
    "up with an encoded slash": f"users/{ADA}/..%2f{BEN}/notes.md",
    "up with an encoded backslash": f"users/{ADA}/..%5c{BEN}/notes.md",
    "up, encoded twice": f"users/{ADA}/%252e%252e/{BEN}/notes.md",
    "a slash, encoded twice": f"users/{ADA}/..%252f{BEN}/notes.md",
    "up, encoded three times": f"users/{ADA}/%25252e%25252e/{BEN}/notes.md",
    "an encoded zero byte": f"users/{ADA}/notes.md%00.txt",
    "an encoded newline": f"users/{ADA}/notes.md%0a",
    "a plain letter, encoded": f"users/{ADA}/n%6ftes.md",
    "overlong UTF-8 for a dot, encoded": f"users/{ADA}/%c0%ae%c0%ae/{BEN}/notes.md",
    "overlong UTF-8 for a slash, encoded": f"users/{ADA}/..%c0%af{BEN}/notes.md",
    "overlong UTF-8 in three bytes, encoded": f"users/{ADA}/%e0%80%ae%e0%80%ae/{BEN}/notes.md",
    "overlong UTF-8 in four bytes, encoded": f"users/{ADA}/..%f0%80%80%af{BEN}/notes.md",
    "overlong UTF-8, read as Latin-1": f"users/{ADA}/\xc0\xae\xc0\xae/{BEN}/notes.md",
    "overlong UTF-8, as escaped bytes": f"users/{ADA}/\udcc0\udcae\udcc0\udcae/{BEN}/notes.md",
    "Microsoft's %u encoding": f"users/{ADA}/%u002e%u002e/{BEN}/notes.md",
    "Microsoft's %u encoding of a look-alike": f"users/{ADA}/..%u2215{BEN}/notes.md",
    "UTF-7": f"users/{ADA}/+AC4ALg-/{BEN}/notes.md",
    "an HTML entity": f"users/{ADA}/&#46;&#46;/{BEN}/notes.md",
    "a plus for a blank": f"users/{ADA}/notes+md",
    "an equals sign of quoted-printable": f"users/{ADA}/=2E=2E/{BEN}/notes.md",
    "a C escape": f"users/{ADA}/\\x2e\\x2e/{BEN}/notes.md",
    "a lone surrogate": f"users/{ADA}\ud800/notes.md",
    "a byte order mark first": f"\ufeffusers/{ADA}/notes.md",
}

_LOOK_ALIKE = {
    "a fullwidth dot": f"users/{ADA}/\uff0e\uff0e/{BEN}/notes.md",
    "a fullwidth slash": f"users/{ADA}/..\uff0f{BEN}/notes.md",
    "a fullwidth backslash": f"users/{ADA}/..\uff3c{BEN}/notes.md",
    "a fullwidth percent": f"users/{ADA}/\uff052e\uff052e/{BEN}/notes.md",
    "a one dot leader": f"users/{ADA}/\u2024\u2024/{BEN}/notes.md",
    "a two dot leader": f"users/{ADA}/\u2025/{BEN}/notes.md",
    "an ellipsis": f"users/{ADA}/\u2026/{BEN}/notes.md",
    "a small full stop": f"users/{ADA}/\ufe52\ufe52/{BEN}/notes.md",
    "an ideographic full stop": f"users/{ADA}/\u3002\u3002/{BEN}/notes.md",
    "a division slash": f"users/{ADA}\u2215notes.md",
    "a fraction slash": f"users/{ADA}\u2044notes.md",
    "a big solidus": f"users/{ADA}\u29f8notes.md",
    "a set minus": f"users/{ADA}/..\u2216{BEN}/notes.md",
    "a dot from the suffix's look-alikes": f"users/{ADA}/notes\u2024md",
    "a fullwidth letter": "users/\uff41da/notes.md",
    "a fullwidth digit in an id": f"users/{ADA}/parts/critic\uff11/notes.md",
    "an Arabic digit in an id": f"users/{ADA}/parts/critic\u0661/notes.md",
    "a Devanagari digit first in an id": f"users/{ADA}/parts/\u0967critic/notes.md",
    "a superscript digit in an id": f"users/{ADA}/parts/critic\u00b2/notes.md",
    "a circled digit in an id": f"users/{ADA}/parts/critic\u2460/notes.md",
    "a Cyrillic a": "users/\u0430da/notes.md",
    "a Greek o": f"users/{ADA}/n\u03bftes.md",
    "a dotless i": f"users/{ADA}/parts/cr\u0131tic/notes.md",
    "a long s, which folds to s": f"u\u017fers/{ADA}/notes.md",
    "a Kelvin sign, which folds to k": f"users/{ADA}/parts/\u212aritic/notes.md",
    "a sharp s, which folds to two": f"users/{ADA}/parts/cla\u00dfic/notes.md",
    "a ligature, which normalises to two": f"users/{ADA}/parts/\ufb01x/notes.md",
    "a composed letter": "users/ad\u00e4/notes.md",
    "the same letter, decomposed": "users/ada\u0308/notes.md",
    "a combining mark behind the name": f"users/{ADA}/notes.md\u0301",
    "an accent behind a dot": f"users/{ADA}/.\u0301./{BEN}/notes.md",
    "a zero width space": f"users/{ADA}/.\u200b./{BEN}/notes.md",
    "a zero width joiner in the id": "users/a\u200dda/notes.md",
    "a soft hyphen": f"users/{ADA}/no\u00adtes.md",
    "a right-to-left override": f"users/{ADA}/\u202edm.seton",
    "a variation selector": f"users/{ADA}\ufe0f/notes.md",
    "a tag character": f"users/{ADA}\U000e0061/notes.md",
    "a hyphen's look-alike": f"users/{ADA}/parts/inner\u2010critic/notes.md",
    "a fullwidth low line": f"users/{ADA}/parts/inner\uff3fcritic/notes.md",
    "a non-breaking space": f"users/{ADA}\u00a0/notes.md",
    "an ideographic space": f"users/{ADA}/notes.md\u3000",
    "an emoji": f"users/{ADA}/parts/\U0001f600/notes.md",
}

_CASE = {
    "USERS": f"USERS/{ADA}/notes.md",
    "Users": f"Users/{ADA}/notes.md",
    "a capital in the user id": "users/Ada/notes.md",
    "a capital in the document": f"users/{ADA}/Notes.md",
    "a capital suffix": f"users/{ADA}/notes.MD",
    "a capital in parts": f"users/{ADA}/Parts/{PART}/notes.md",
    "a capital in the part id": f"users/{ADA}/parts/Critic/notes.md",
    "HISTORY": f"HISTORY/{ADA}/notes",
}

_BLANKS_AND_CONTROLS = {
    "a blank behind": f"users/{ADA}/notes.md ",
    "a blank before": f" users/{ADA}/notes.md",
    "a dot behind": f"users/{ADA}/notes.md.",
    "dots behind": f"users/{ADA}/notes.md...",
    "a dot behind the user id": f"users/{ADA}./notes.md",
    "a blank behind the user id": f"users/{ADA} /notes.md",
    "a dot behind users": f"users./{ADA}/notes.md",
    "a dot behind a folder": f"users/{ADA}.",
    "a zero byte behind": f"users/{ADA}/notes.md\0",
    "a zero byte and a suffix": f"users/{ADA}/notes.md\0.png",
    "a zero byte in the user id": f"users/{ADA}\0{BEN}/notes.md",
    "a zero byte first": f"\0users/{ADA}/notes.md",
    "a newline behind": f"users/{ADA}/notes.md\n",
    "a newline behind a folder": f"users/{ADA}\n",
    "a newline behind an id": f"users/{ADA}\n/notes.md",
    "a newline and another path": f"users/{ADA}/notes.md\nusers/{BEN}/notes.md",
    "a carriage return behind": f"users/{ADA}/notes.md\r",
    "both line ends behind": f"users/{ADA}/notes.md\r\n",
    "a tab": f"users/{ADA}\t/notes.md",
    "a vertical tab": f"users/{ADA}/notes.md\x0b",
    "an escape sequence": f"users/{ADA}/\x1b[2J/notes.md",
    "a bell": f"users/{ADA}/\x07notes.md",
    "a backspace": f"users/{ADA}x\x08/notes.md",
    "a delete": f"users/{ADA}/notes.md\x7f",
    "a next line of the C1 set": f"users/{ADA}/notes.md\x85",
    "a line separator": f"users/{ADA}/notes.md\u2028",
    "a paragraph separator": f"users/{ADA}/notes.md\u2029",
}

_IDS = {
    "an id that begins with a hyphen": "users/-ada/notes.md",
    "an id like an option": "users/--help/notes.md",
    "an id that begins with an underscore": "users/_ada/notes.md",
    "an id with a dot": "users/ada.b/notes.md",
    "an id with a colon": "users/ada:b/notes.md",
    "an id with an at sign": "users/ada@example/notes.md",
    "an id with a quote": "users/ada'--/notes.md",
    "an id with a double quote": 'users/ada"/notes.md',
    "an id of 65 characters": f"users/{'a' * 65}/notes.md",
    "a part id of 65 characters": f"users/{ADA}/parts/{'a' * 65}/notes.md",
    "an id of 300 characters": f"users/{'a' * 300}/notes.md",
    "a path of 5,000 characters": f"users/{ADA}/" + "a/" * 2500 + "notes.md",
    "a path of a million characters": "users/" + "a" * 1_000_000,
    "a thousand components": "/".join(["users"] * 1000),
}

_HISTORY = {
    "a copy with a name of its own": f"history/{ADA}/notes/latest.md",
    "a copy without an event": f"history/{ADA}/notes/2026-11-18T082512.123456Z.md",
    "a copy with an event in capitals":
        f"history/{ADA}/notes/2026-11-18T082512.123456Z-0193A1B2-0000-7000-8000-000000000000.md",
    "a copy whose time is traversal":
        f"history/{ADA}/notes/../../x-0193a1b2-0000-7000-8000-000000000000.md",
    "a copy beside its folder":
        f"history/{ADA}/2026-11-18T082512.123456Z-0193a1b2-0000-7000-8000-000000000000.md",
    "a copy in the folder of the parts":
        f"history/{ADA}/parts/2026-11-18T082512.123456Z-0193a1b2-0000-7000-8000-000000000000.md",
    "a copy with Arabic digits":
        f"history/{ADA}/notes/\u0662026-11-18T082512.123456Z-0193a1b2-0000-7000-8000-000000000000.md",
    "a copy with a newline behind":
        f"history/{ADA}/notes/2026-11-18T082512.123456Z-0193a1b2-0000-7000-8000-000000000000.md\n",
    "a document below history": f"history/{ADA}/notes.md",
    "a history of something else": f"history/{ADA}/secrets",
    "a copy below users":
        f"users/{ADA}/notes/2026-11-18T082512.123456Z-0193a1b2-0000-7000-8000-000000000000.md",
}  # fmt: skip

_FREE_FORM = {
    "a folder that no kind has": f"users/{ADA}/diary",
    "a document in a folder that no kind has": f"users/{ADA}/diary/x.md",
    "a history that no kind has": f"history/{ADA}/diary/x.md",
    "a free-form document without a folder": f"users/{ADA}/memories.md",
    "a free-form document five levels deep": f"users/{ADA}/memories/a/b/c/d.md",
    "folders four levels deep": f"users/{ADA}/memories/a/b/c",
    "the folder of notes": f"users/{ADA}/notes/x.md",
    "the history of a free-form document without its suffix": f"history/{ADA}/notes/memories/x",
    "a free-form document that leads out": f"users/{ADA}/memories/../../{BEN}/notes.md",
    "a free-form document in capitals": f"users/{ADA}/memories/Tea.md",
    "a free folder in capitals": f"users/{ADA}/Memories/tea.md",
    "a hidden free-form document": f"users/{ADA}/memories/.tea.md",
    "a free-form document with an escape": f"users/{ADA}/memories/tea%2e.md",
    "a free-form document without a name": f"users/{ADA}/memories/.md",
    "a free-form document of two suffixes": f"users/{ADA}/memories/tea.md.md",
    "a free-form document in a free-form document": f"users/{ADA}/memories/tea.md/x.md",
}

ATTACKS = tuple(
    Attack(name, path)
    for group in (
        _PREFIXES, _DOTS, _SLASHES, _ABSOLUTE, _ENCODED, _LOOK_ALIKE, _CASE, _BLANKS_AND_CONTROLS,
        _IDS, _HISTORY, _FREE_FORM,
    )
    for name, path in group.items()
)  # fmt: skip
"""Paths that no caller may use."""

OTHER_USERS = tuple(
    Attack(f"another user's {name}", path)
    for name, path in {
        "notes": f"users/{BEN}/notes.md",
        "garden": f"users/{BEN}",
        "part": f"users/{BEN}/parts/{PART}/profile.md",
        "history": f"history/{BEN}/notes",
        "garden, whose id begins with mine": f"users/{ADA}-evil/notes.md",
        "garden, whose id is the beginning of mine": f"users/{ADA[:-1]}/notes.md",
        "copy": f"history/{BEN}/notes/2026-11-18T082512.123456Z-0193a1b2-0000-7000-8000-000000000000.md",
    }.items()
)
"""Valid paths that are not Ada's."""

_COMPONENT_NAMES = ("users", "the user's folder", "the folder of parts", "the part's folder", "the document")
_TARGETS = {
    "to the same place outside": "{outside}/{here}",
    "to the same place outside, relative": "{up}outside/{here}",
    "to the root of what is outside": "{outside}",
    "to the same place in another garden": "{home}/{there}",
    "to the same place in another garden, relative": "{up}home/{there}",
    "to the same place in another garden, never leaving the home": "{within}{there}",
    "to where it stood before, by another name": "{home}/{here}-aside",
    "to nothing": "{home}/nothing",
    "to itself": "{home}/{here}",
    "to the keys": "{home}/.garden/keys",
    "to a handle of the process": "/proc/self/fd/0",
    "to the working folder of the process": "/proc/self/cwd",
    "to a device without an end": "/dev/zero",
    "to a terminal": "/dev/tty",
}

PLANTS = tuple(
    Plant(f"{where} is a link {how}", component, target)
    for component, where in enumerate(_COMPONENT_NAMES)
    for how, target in _TARGETS.items()
)
"""Links in every component of `DOCUMENT`."""
