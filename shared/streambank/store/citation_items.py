"""The turns that memories cite, as items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from streambank.model.memory import Citation, Memory
from streambank.store import codec, keys, text
from streambank.store.attributes import seconds


def citation_values(citation: Citation) -> codec.Values:
    return {"d": text.compressed(citation.text), "ttl": seconds(citation.expires)}


def citation_of(item: Mapping[str, Any]) -> Citation:
    expires = codec.instant_of(item["ttl"] * 1000)
    return Citation(*keys.cited_window(item["SK"]), text.decompressed(item["d"]), expires)


def citations_of(
    items: Iterable[Mapping[str, Any]], memories: Iterable[Memory], *, now: datetime
) -> dict[str, list[Citation]]:
    """Return the live citations in *items* by the ids of *memories*.

    A citation of a window that is not in the memory's evidence is of an earlier memory with its id.
    """
    windows = {memory.id: {(one.sid, one.window) for one in memory.evidence} for memory in memories}
    cited: dict[str, list[Citation]] = {}
    for item in items:
        memory_id = keys.name_in(item["SK"])
        if memory_id in windows:
            one = citation_of(item)
            if one.is_live(now) and (one.sid, one.window) in windows[memory_id]:
                cited.setdefault(memory_id, []).append(one)
    return cited
