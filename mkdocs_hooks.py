"""Show files of the repository's root as pages of the documentation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
SHOWN = {
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "security-policy.md": "SECURITY.md",
}
"""The pages that show a file of the root."""


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Return the Markdown of a page: for a page of `SHOWN`, that of its file, with links relative to `docs/`."""
    name = SHOWN.get(page.file.src_uri)
    if name is None:
        return markdown
    text = (ROOT / name).read_text().replace("](docs/", "](")
    for target, source in SHOWN.items():
        text = re.sub(rf"\]\({re.escape(source)}(#[^)]*)?\)", rf"]({target}\1)", text)
    return text
