"""`python -m infra.openapi`: writes docs/openapi.json."""

import json
from pathlib import Path

from infra.openapi.document import document

TARGET = Path(__file__).resolve().parents[2] / "docs" / "openapi.json"


def text() -> str:
    """Return the document as the file holds it."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
