"""From an empty environment to a first recalled memory: each command of docs/install.md, and the bundle.

    python -m tests.packaging.clients

Builds dist/ as for a release, checks it, and leaves the wheel, the sdist and the bundle there. Every start
has a home of its own, so that each makes its garden and starts its database.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import monotonic
from typing import Any

from garden.clients.known import CLIENTS
from tests.docs.pages import blocks_of
from tests.packaging.test_distributions import REPOSITORY
from tests.support.first_memory import MEMORY, remember
from tools.bundle import write_bundle

DIST = REPOSITORY / "dist"
PROGRAMS = REPOSITORY / ".venv/package/bin"
MCPB = REPOSITORY / ".venv/package/npm/node_modules/.bin/mcpb"


def main() -> None:
    """Build, check, and use what was built; ends with the first failure."""
    wheel = release()
    with tempfile.TemporaryDirectory(prefix="garden-clients-") as scratch:
        folder = Path(scratch)
        # Readable for the account that the database server gets where root starts it.
        folder.chmod(0o755)
        variables = empty_environment(folder)
        since = monotonic()
        shown = run(variables, PROGRAMS / "uvx", "--from", wheel, "memory-garden", "--version")
        print(f"uvx installs {shown.strip()}: {monotonic() - since:.1f} s", flush=True)
        on_the_page(folder / "page", variables)
        from_the_registry(folder / "registry", variables, wheel)
        from_the_bundle(folder / "bundle", variables)


def release() -> Path:
    """Build both distributions and the bundle, and have each checked by the tool of its place."""
    shutil.rmtree(DIST, ignore_errors=True)
    variables = with_programs(os.environ)
    run(variables, PROGRAMS / "python", "-m", "build", "--installer", "uv", "--outdir", DIST, REPOSITORY)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    run(variables, sys.executable, "-m", "twine", "--no-color", "check", "--strict", wheel, sdist)
    with tempfile.TemporaryDirectory(prefix="garden-bundle-") as folder:
        write_bundle(wheel, Path(folder))
        run(variables, MCPB, "pack", folder, DIST / "memory-garden.mcpb")
        shutil.copy(REPOSITORY / "server.json", folder)
        linted = run(variables, PROGRAMS / "skillsaw", "lint", "--strict", "--type", "mcp-registry", folder)
        assert "All checks passed" in linted, linted
    print(f"Built and checked: {', '.join(sorted(each.name for each in DIST.iterdir()))}", flush=True)
    return wheel


def empty_environment(folder: Path) -> dict[str, str]:
    """The variables of an account that has only uv and pipx: nothing is installed, and no cache is filled."""
    passed_on = ("LANG", "PATH", "PIP_", "SSL_", "TMPDIR", "UV_")
    kept = {name: value for name, value in os.environ.items() if name.startswith(passed_on)}
    return with_programs(kept) | {"HOME": str(folder), "UV_CACHE_DIR": str(folder / "uv")}


def with_programs(variables: Mapping[str, str]) -> dict[str, str]:
    return {**variables, "PATH": f"{PROGRAMS}{os.pathsep}{variables['PATH']}"}


def on_the_page(person: Path, variables: Mapping[str, str]) -> None:
    """Type the commands of the page; start what each `setup` wrote, and recall a memory."""
    variables = {**variables, "HOME": str(person)}
    person.mkdir()
    for client in CLIENTS.values():
        at(person, client.folder()).mkdir(parents=True)
    wrote = set()
    since = monotonic()
    for line in commands_of_the_page():
        program, _, name = line.partition(" setup ")
        run(variables, "bash", "-euc", f"{line} --yes" if name else line, folder=REPOSITORY)
        if name in CLIENTS:
            wrote.add(name)
            use(entry_of(name, person), variables, person, f"{program.split()[0]} ... setup {name}", since)
            since = monotonic()
    assert wrote == set(CLIENTS), wrote


def commands_of_the_page() -> Iterator[str]:
    for block in blocks_of(REPOSITORY / "docs/install.md"):
        if block.language == "sh":
            yield from block.text.splitlines()


def entry_of(name: str, person: Path) -> dict[str, Any]:
    """The entry that a client reads from its settings."""
    client = CLIENTS[name]
    file = at(person, client.file())
    settings = (tomllib.loads if file.suffix == ".toml" else json.loads)(file.read_text("utf-8"))
    entry: dict[str, Any] = settings[client.form.table]["memory-garden"]
    return entry


def at(person: Path, path: Path) -> Path:
    """A place below this account's own folder in the folder of another person."""
    return person / path.relative_to(Path.home())


def from_the_registry(person: Path, variables: Mapping[str, str], wheel: Path) -> None:
    """Start the server as a client does that reads server.json; the wheel stands for the package index."""
    [package] = json.loads((REPOSITORY / "server.json").read_text("utf-8"))["packages"]
    words = [
        each["value"] if each["type"] == "positional" else f"{each['name']}={each['default']}"
        for each in package["packageArguments"]
    ]
    args = ["--from", str(wheel), package["identifier"], *words]
    entry = {"command": str(PROGRAMS / package["runtimeHint"]), "args": args}
    use(entry, {**variables, "HOME": str(person)}, person, "server.json", monotonic())


def from_the_bundle(person: Path, variables: Mapping[str, str]) -> None:
    """Unpack the bundle and start it as its manifest says, with the defaults of what it asks the user."""
    unpacked = person / "unpacked"
    zipfile.ZipFile(DIST / "memory-garden.mcpb").extractall(unpacked)
    text = (unpacked / "manifest.json").read_text("utf-8")
    defaults = {name: each["default"] for name, each in json.loads(text)["user_config"].items()}
    for name, value in defaults.items():
        text = text.replace(f"${{user_config.{name}}}", value)
    text = text.replace("${__dirname}", str(unpacked)).replace("${HOME}", str(person))
    config = json.loads(text)["server"]["mcp_config"]
    use(config, {**variables, "HOME": str(person)}, person, "memory-garden.mcpb", monotonic())


def use(
    entry: Mapping[str, Any], variables: Mapping[str, str], person: Path, label: str, since: float
) -> None:
    """Have a client start this entry, keep a memory and recall it; then take the garden away again."""
    home = person / "memory-garden"
    try:
        found = remember(entry, variables)
        assert MEMORY in found, found
        assert (home / "users/me").is_dir()
        print(f"{label}: a first memory after {monotonic() - since:.1f} s", flush=True)
    finally:
        stop = [sys.executable, "-m", "garden", "--home", str(home), "database", "stop"]
        subprocess.run(stop, cwd=REPOSITORY, check=False, capture_output=True)
        shutil.rmtree(home)


def run(variables: Mapping[str, str], *command: str | Path, folder: Path = Path("/")) -> str:
    """Run a command, away from the checkout unless told otherwise, and end with its output where it fails."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
