"""Reads all pages; the status is 1 if one of them breaks a rule."""

from __future__ import annotations

import sys
from pathlib import Path

from infra.prose.page import Page
from infra.prose.rules import RULES

ROOT = Path(__file__).resolve().parents[2]


def pages() -> list[Page]:
    """Return the pages of the documents."""
    paths = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
    return [Page(path, path.read_text()) for path in [*paths, *sorted((ROOT / "docs").rglob("*.md"))]]


def problems() -> list[str]:
    """Return each place that breaks a rule, as `path:line: what`."""
    return [
        f"{page.path.relative_to(ROOT)}:{line}: {problem}"
        for page in pages()
        for rule in RULES
        for line, problem in rule(page)
    ]


if __name__ == "__main__":
    broken = problems()
    print("\n".join(broken) or "The prose keeps the rules.")
    sys.exit(1 if broken else 0)
