"""The stores for Strands' own memory manager; they need the extra `strands`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strands.memory import MemoryEntry, MemoryStore

from streambank_client.strands.bank_store import BankFacts, BankStream

if TYPE_CHECKING:
    from strands.memory import SearchOptions


class StreambankMemoryStore(BankStream, MemoryStore):
    """A bank for `strands.memory.MemoryManager`: the service extracts. One object for each agent that lives.

    It has no `add`, which would flatten a conversation, and no tools: Strands decides by the methods of the type.
    """

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """Return the memories nearest to *query*, as many as `max_search_results`, of 1 to 100.

        Raises:
            StreambankError: the service could not be reached, or refused the call.
        """
        return [MemoryEntry(fact, metadata=metadata) for fact, metadata in await self._search(query, options)]


class StreambankFactStore(StreambankMemoryStore, BankFacts):
    """A bank that accepts single facts too: of an extractor on the client, or of the tool `add_memory`."""
