"""The stores for Strands' own memory manager; they need the extra `strands`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strands.memory import MemoryEntry, MemoryStore

from streambank_client.strands.bank_store import BankFacts, BankStream

if TYPE_CHECKING:
    from strands.memory import SearchOptions


class StreambankMemoryStore(BankStream, MemoryStore):
    """A bank for `strands.memory.MemoryManager`: the service extracts. One object for each agent that lives.

    It has no `add`, which would flatten a conversation, and no tools; Strands asks the type what a store can do.
    """

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """Return the memories nearest to *query*, as many as `max_search_results`, of 1 to 100.

        Raises:
            StreambankError: the service could not be asked.
        """
        return [MemoryEntry(fact, metadata=told) for fact, told in await self._found(query, options)]


class StreambankFactStore(StreambankMemoryStore, BankFacts):
    """A bank that takes single facts too: for an extractor on the client, or for the tool `add_memory`."""
