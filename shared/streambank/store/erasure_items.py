"""Erasures as attributes of items."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from streambank.model.erasure import Erasure, ErasureTarget
from streambank.model.window import Window, WindowState
from streambank.store import codec, keys, text
from streambank.store.attributes import instant, milliseconds, seconds


def job_values(item: Mapping[str, Any] | None, request: ErasureTarget, now: datetime) -> codec.Values:
    number = (item or {}).get("era", 0) + 1
    ask = text.dumps([request.user_id, list(request.conversation_ids)])
    began = milliseconds(now)
    return {"era": number, "erasing": number, "ebeg": began, "eend": None, "ask": ask, "man": None, "cut": None}


def erasure_of(bank: str, cid: str, item: Mapping[str, Any]) -> Erasure:
    user_id, conversations = json.loads(item.get("ask") or "[null, []]")
    return Erasure(
        bank,
        cid,
        item["era"],
        codec.instant_of(item["ebeg"]),
        json.loads(item.get("sco", "{}")),
        ErasureTarget(user_id, tuple(conversations)),
        instant(item.get("eend")),
        json.loads(item.get("man") or "{}"),
        (item.get("shd", 0), item.get("ent", "")),
        item.get("cut") is not None,
    )


def counts_text(erasure: Erasure, counts: Counter[str]) -> str:
    """Return the sum of what the erasure has counted and *counts*."""
    return text.dumps({kind: count for kind, count in (Counter(erasure.counts) + counts).items() if count})


def erased_values(window: Window, now: datetime, expires: datetime | None) -> codec.Values:
    key = keys.window(window.stream.bank, window.stream.sid, window.number)
    return {
        "st": WindowState.ERASED,
        "end": milliseconds(now),
        "ttl": seconds(expires),
        **codec.due_values(key, None),
    }
