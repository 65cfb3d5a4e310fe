"""JSON inside items, and its compression."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from streambank.model.metadata import Metadata, MetadataValue
from streambank.model.rule import Expiry

_STORED, _DEFLATED = b"\x00", b"\x01"


def dumps(value: Any) -> str:
    """Return the shortest JSON of *value*."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def compressed(value: Any) -> bytes:
    """Return JSON of *value*, deflated unless that would make it longer."""
    raw = dumps(value).encode()
    deflated = zlib.compress(raw, 9)
    return _DEFLATED + deflated if len(deflated) < len(raw) else _STORED + raw


def decompressed(data: Any) -> Any:
    """Return the value that `compressed` got."""
    raw = bytes(data)
    return json.loads(zlib.decompress(raw[1:]) if raw[:1] == _DEFLATED else raw[1:])


def expiry_text(expiry: Expiry | None) -> float | str | None:
    """Return a span as its seconds, an instant as RFC 3339."""
    if expiry is None:
        return None
    return expiry.total_seconds() if isinstance(expiry, timedelta) else expiry.isoformat()


def expiry_value(text: float | str | None) -> Expiry | None:
    """Return the expiry that `expiry_text` got."""
    if text is None:
        return None
    return datetime.fromisoformat(text) if isinstance(text, str) else timedelta(seconds=text)


def metadata_text(metadata: Metadata | None) -> dict[str, Any] | None:
    """Return *metadata* as JSON values: an instant is in a list, which distinguishes it from text."""
    if metadata is None:
        return None
    return {key: [value.isoformat()] if isinstance(value, datetime) else value for key, value in metadata.items()}


def metadata_value(text: Mapping[str, Any] | None) -> Metadata | None:
    """Return the metadata that `metadata_text` got."""
    if text is None:
        return None
    return {key: _metadata_value(value) for key, value in text.items()}


def _metadata_value(value: Any) -> MetadataValue:
    if isinstance(value, list):
        return datetime.fromisoformat(value[0])
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value  # type: ignore[no-any-return]
