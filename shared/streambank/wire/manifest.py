"""The manifest of an export: what it holds, and the names of its parts."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from streambank.errors import InvalidArgument
from streambank.model.ids import BANK_ID
from streambank.model.transfer import FORMAT, FORMAT_VERSION, MANIFEST, Manifest
from streambank.wire import reader
from streambank.wire.model import RequestModel
from streambank.wire.reply import rfc3339, without_nulls

MAX_BYTES = 8_000_000
_KEY = re.compile(rf"({BANK_ID.pattern})/export-[1-9][0-9]{{0,11}}/{re.escape(MANIFEST)}")
_PART = r"^part-[0-9]{6,12}-[0-9]{1,12}\.jsonl$"


def _instant(value: Any) -> datetime:
    try:
        return reader.instant(value, "")
    except InvalidArgument as refusal:
        raise ValueError(str(refusal)) from refusal


Instant = Annotated[datetime, BeforeValidator(_instant)]


class ManifestShape(RequestModel):
    format: str
    version: int
    bank: str
    start_time: Instant
    end_time: Instant
    scope: dict[str, str] | None = None
    counts: dict[str, int] = Field(default_factory=dict)
    parts: list[Annotated[str, Field(pattern=_PART)]]


def written(manifest: Manifest) -> bytes:
    """Return the object that a manifest is."""
    document = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "bank": manifest.bank,
        "startTime": rfc3339(manifest.started),
        "endTime": rfc3339(manifest.ended),
        "scope": manifest.scope and dict(manifest.scope),
        "counts": dict(manifest.counts),
        "parts": list(manifest.parts),
    }
    return json.dumps(without_nulls(document), ensure_ascii=False, indent=1).encode()


def read(data: bytes) -> Manifest:
    """Return the manifest that an object is. Raises InvalidArgument if it is none, or of a version unknown here."""
    body = reader.json_body(data.decode(errors="replace"), is_base64=False, most_bytes=MAX_BYTES)
    if not isinstance(body, Mapping) or (body.get("format"), body.get("version")) != (FORMAT, FORMAT_VERSION):
        raise InvalidArgument("source", f"is no manifest of {FORMAT} version {FORMAT_VERSION}")
    shape = ManifestShape.parse(body)
    return Manifest(shape.bank, shape.start_time, shape.end_time, shape.scope, shape.counts, tuple(shape.parts))


def bank_of(key: str) -> str:
    """Return the bank that the manifest under *key* is of. Raises InvalidArgument if that is no manifest's key."""
    match = _KEY.fullmatch(key)
    if match is None:
        raise InvalidArgument("source", f"must be the key of an export's {MANIFEST}, as the export named it")
    return match[1]
