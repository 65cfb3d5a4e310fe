"""Looks for a word in everything that is stored, as an auditor would who has the table's export."""

from __future__ import annotations

import base64
import re
from typing import Any

from streambank.store import text
from tests import aws


def places(client: Any, word: str) -> list[str]:
    """Return where *word* is, as partition, sort key and attribute; compressed content is unpacked first."""
    return [
        f"{item['PK']['S']} {item['SK']['S']} {name}"
        for item in aws.dump(client)
        for name, value in item.items()
        if word in readable(value)
    ]


def readable(value: dict[str, Any]) -> str:
    """Return all that can be read in an attribute."""
    [(kind, content)] = value.items()
    if kind != "B":
        return str(content)
    raw = bytes(content)
    try:
        return str(text.decompressed(raw))
    except Exception:
        return raw.decode(errors="replace") + base64.b64encode(raw).decode()


def texts(client: Any, pattern: str) -> dict[str, str]:
    """Return whatever matches *pattern*, and where it is, in all that is stored."""
    return {
        match: f"{item['PK']['S']} {item['SK']['S']} {name}"
        for item in aws.dump(client)
        for name, value in item.items()
        for match in re.findall(pattern, readable(value))
    }
