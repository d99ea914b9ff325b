"""The clients that can be set up: where each keeps its settings, and in which form."""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from garden.clients.forms import SettingsForm
from garden.clients.json_settings import JsonSettings
from garden.clients.toml_settings import TomlSettings


@dataclass(frozen=True)
class Client:
    """An MCP client: its own folder, its settings file, and how the person sees that it works."""

    title: str
    folder: Callable[[], Path]
    file: Callable[[], Path]
    form: SettingsForm
    afterwards: str
    names_type: bool = False


def _applications(*names: str) -> Path:
    """A place below the folder in which desktop programs keep their settings."""
    is_mac = sys.platform == "darwin"
    folder = Path.home() / "Library/Application Support" if is_mac else _folder("XDG_CONFIG_HOME", ".config")
    return folder.joinpath(*names)


def _folder(variable: str, name: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / name)


CLIENTS: Mapping[str, Client] = {
    "claude-desktop": Client(
        "Claude Desktop",
        lambda: _applications("Claude"),
        lambda: _applications("Claude", "claude_desktop_config.json"),
        JsonSettings("mcpServers"),
        "Quit Claude Desktop and start it again.",
    ),
    "claude-code": Client(
        "Claude Code",
        lambda: _folder("CLAUDE_CONFIG_DIR", ".claude"),
        # Beside the folder .claude, but in a folder that the variable names.
        lambda: _folder("CLAUDE_CONFIG_DIR", "") / ".claude.json",
        JsonSettings("mcpServers"),
        "New sessions have it; /mcp shows it.",
        names_type=True,
    ),
    "cursor": Client(
        "Cursor",
        lambda: Path.home() / ".cursor",
        lambda: Path.home() / ".cursor" / "mcp.json",
        JsonSettings("mcpServers", has_comments=True),
        "Cursor asks once whether to enable it.",
    ),
    "vscode": Client(
        "VS Code",
        lambda: _applications("Code"),
        lambda: _applications("Code", "User", "mcp.json"),
        JsonSettings("servers", has_comments=True),
        "VS Code asks once whether to trust it; 'MCP: List Servers' shows it.",
        names_type=True,
    ),
    "codex": Client(
        "Codex",
        lambda: _folder("CODEX_HOME", ".codex"),
        lambda: _folder("CODEX_HOME", ".codex") / "config.toml",
        TomlSettings("mcp_servers"),
        "New sessions have it; /mcp shows it.",
    ),
}
