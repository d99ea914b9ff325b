"""Hooks of the documentation site: pictures from Mermaid text, and ARCHITECTURE.md as a page.

Diagrams are drawn while the site is built, so that no reader's browser asks another host for a script.
"""

import re
from pathlib import Path
from typing import Any

import mermaidx
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

REPOSITORY = Path(__file__).parents[1]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Draw every fenced block of the language `mermaid`."""
    config.mdx_configs["pymdownx.superfences"] = {
        "custom_fences": [{"name": "mermaid", "class": "diagram", "format": draw}]
    }
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add ARCHITECTURE.md, which lies beside `docs` because people look for it there."""
    text = (REPOSITORY / "ARCHITECTURE.md").read_text("utf-8")
    page = re.sub(r"\]\(docs/", "](", text)
    files.append(File.generated(config, "architecture.md", content=page))
    return files


def draw(source: str, _language: str, css_class: str, _options: Any, _markdown: Any, **_more: Any) -> str:
    """Draw a diagram as SVG that stands in the page itself."""
    return f'<div class="{css_class}">{mermaidx.render(source).svg()}</div>'
