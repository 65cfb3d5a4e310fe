"""Banks as the wire shows them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from streambank.errors import InvalidArgument
from streambank.model.bank import Bank
from streambank.rules.schemas import check_schema
from streambank.wire import reader
from streambank.wire.ingest import trigger_rule
from streambank.wire.settings import LONGEST_TTL, SHORTEST_TTL
from streambank.wire.times import rfc3339, without_nulls

MAX_DOCUMENT_BYTES = 300_000
MAX_DEPTH = 64
_CONFIG = "contextSpec.memoryBankConfig"


def bank(shown: Bank, parent: str, document: Mapping[str, Any]) -> dict[str, object]:
    """Return a bank; contextSpec is complete or absent, since an empty one crashes Google's SDK."""
    return without_nulls(
        {
            "name": f"{parent}/{shown.id}",
            "displayName": shown.display_name,
            "description": shown.description,
            "createTime": rfc3339(shown.created),
            "updateTime": rfc3339(shown.updated),
            "contextSpec": {"memoryBankConfig": dict(document)} if document else None,
        }
    )


def check_text(body: Any) -> None:
    """Raise InvalidArgument if a body is nested too deeply to be kept, or holds what is no text."""
    if not reader.depth(body, MAX_DEPTH):
        raise InvalidArgument(_CONFIG, f"is nested more than {MAX_DEPTH} levels deep")
    reader.byte_length(json.dumps(body, ensure_ascii=False), _CONFIG)


def check(document: Mapping[str, Any]) -> None:
    """Raise InvalidArgument if a configuration holds what no call could say, or more than an item takes."""
    size = len(json.dumps(document, ensure_ascii=False).encode())
    if size > MAX_DOCUMENT_BYTES:
        raise InvalidArgument(_CONFIG, f"has {size} bytes; the limit is {MAX_DOCUMENT_BYTES}")
    rule = document.get("generationConfig", {}).get("generationTriggerConfig", {}).get("generationRule")
    if rule is not None:
        trigger_rule(rule, f"{_CONFIG}.generationConfig.generationTriggerConfig.generationRule")
    for index, config in enumerate(document.get("structuredMemoryConfigs", [])):
        for place, schema in enumerate(config.get("schemaConfigs", [])):
            check_schema(schema, f"{_CONFIG}.structuredMemoryConfigs[{index}].schemaConfigs[{place}]")
    _check_ttls(document.get("ttlConfig", {}), f"{_CONFIG}.ttlConfig")


def _check_ttls(ttls: Mapping[str, Any], path: str) -> None:
    for name, value in ttls.items():
        if isinstance(value, Mapping):
            _check_ttls(value, reader.join(path, name))
        else:
            reader.duration(value, reader.join(path, name), least=SHORTEST_TTL, most=LONGEST_TTL)
