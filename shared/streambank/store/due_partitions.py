"""The partitions of index `due`."""

from __future__ import annotations

import zlib

from streambank.store.keys import BANKS, Key, Kind, kind_of

SHARDS = 8
# Jobs and the deletion of banks have a partition of their own: no backlog of windows hides them.
JOBS = "DUE#JOBS"
_JOB_KINDS = (
    Kind.VERSION,
    Kind.ERASE,
    Kind.EXPORT,
    Kind.IMPORT,
    Kind.INDEX,
    Kind.POLICY,
    Kind.REINDEX,
    Kind.REPLAY,
)
# Kinds of which a partition holds several; of the results of a window nothing but a replay is ever due.
_JOBS_OF_PARTS = (Kind.MOVE, Kind.RESULT)


def partition_of(key: Key) -> str:
    """Return the partition that holds *key*."""
    if key.pk == BANKS or key.sk in _JOB_KINDS or kind_of(key.sk) in _JOBS_OF_PARTS:
        return JOBS
    return f"DUE#{zlib.crc32((key.pk + key.sk).encode()) % SHARDS}"


def shards() -> list[str]:
    """Return the partitions of everything but jobs."""
    return [f"DUE#{shard}" for shard in range(SHARDS)]
