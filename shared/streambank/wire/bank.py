"""Banks as the wire shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streambank.model.bank import Bank
from streambank.wire.times import rfc3339, without_nulls


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
