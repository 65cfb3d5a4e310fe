"""The stores over a deployment's table."""

from __future__ import annotations

from dataclasses import dataclass

from streambank.pipeline.memories.scope_reader import ScopeReader
from streambank.store.banks import Banks
from streambank.store.changes import Changes
from streambank.store.chat_histories import ChatHistories
from streambank.store.consents import Consents
from streambank.store.cuts import Cuts
from streambank.store.erasures import Erasures
from streambank.store.events import Events
from streambank.store.memories import Memories
from streambank.store.moved_memories import MovedMemories
from streambank.store.moved_streams import MovedStreams
from streambank.store.moves import Moves
from streambank.store.plans import Plans
from streambank.store.policy_jobs import PolicyJobs
from streambank.store.reindexes import Reindexes
from streambank.store.replays import Replays
from streambank.store.reviews import Reviews
from streambank.store.scope_indexes import ScopeIndexes
from streambank.store.scope_revisions import ScopeRevisions
from streambank.store.sessions import Sessions
from streambank.store.streams import Streams
from streambank.store.table import Table
from streambank.store.transfers import Transfers
from streambank.store.usage import UsageStore
from streambank.store.windows import Windows


@dataclass(frozen=True, slots=True)
class Stores:
    """One of each."""

    banks: Banks
    changes: Changes
    consents: Consents
    cuts: Cuts
    erasures: Erasures
    events: Events
    histories: ChatHistories
    memories: Memories
    moved_memories: MovedMemories
    moved_streams: MovedStreams
    moves: Moves
    plans: Plans
    policy_jobs: PolicyJobs
    reindexes: Reindexes
    replays: Replays
    reviews: Reviews
    scope_indexes: ScopeIndexes
    scope_revisions: ScopeRevisions
    sessions: Sessions
    streams: Streams
    transfers: Transfers
    usage: UsageStore
    windows: Windows

    @property
    def reader(self) -> ScopeReader:
        """Return what reads the memories of small and of large scopes."""
        return ScopeReader(self.memories, self.scope_indexes, self.changes)

    @classmethod
    def over(cls, table: Table) -> Stores:
        """Return the stores that read and write *table*."""
        return cls(
            Banks(table),
            Changes(table),
            Consents(table),
            Cuts(table),
            Erasures(table),
            Events(table),
            ChatHistories(table),
            Memories(table),
            MovedMemories(table),
            MovedStreams(table),
            Moves(table),
            Plans(table),
            PolicyJobs(table),
            Reindexes(table),
            Replays(table),
            Reviews(table),
            ScopeIndexes(table),
            ScopeRevisions(table),
            Sessions(table),
            Streams(table),
            Transfers(table),
            UsageStore(table),
            Windows(table),
        )
