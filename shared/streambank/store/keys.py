"""Every key of the table, in one file.

S#{bank}#{sid}     HEAD, CUT, IMPORT, B#{first seq}, D#{event}, W#{window}, P#{window}#{part}
C#{bank}#{cid}     V, M#{memory}, R#{memory}#{number}, T#{memory}#{sid}-{window}-{number}
N#{bank}#{memory}  N
X#{bank}#{session} S, E#{number}
H#{bank}#{chat}    H, C#{version}#{number}, O#{version}
K#{bank}#{shard}   C#{cid}, S#{cid}#{sid}, X#{session}, H#{chat}
BANKS              {bank}
BANK#{bank}        CONFIG, ERASE, EXPORT, IMPORT
A#{key id}         KEY
U#{bank}           D#{UTC day}
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

# 12 digits keep numeric order in sort keys for any stream that will ever be.
_WIDTH = 12
DUE_SHARDS = 8
LIST_SHARDS = 8
REGISTRY_SHARDS = 8


class Key(NamedTuple):
    """A primary key of the table."""

    pk: str
    sk: str


def _shard(text: str, shards: int) -> int:
    return zlib.crc32(text.encode()) % shards


def stream(bank: str, sid: str) -> str:
    return f"S#{bank}#{sid}"


def head(bank: str, sid: str) -> Key:
    return Key(stream(bank, sid), "HEAD")


def batch(bank: str, sid: str, first_seq: int) -> Key:
    return Key(stream(bank, sid), f"B#{first_seq:0{_WIDTH}}")


def marker(bank: str, sid: str, event_key: str) -> Key:
    return Key(stream(bank, sid), f"D#{event_key}")


def window(bank: str, sid: str, number: int) -> Key:
    return Key(stream(bank, sid), f"W#{number:0{_WIDTH}}")


def candidates(bank: str, sid: str, number: int, part: int) -> Key:
    return Key(stream(bank, sid), f"P#{number:0{_WIDTH}}#C{part:03}")


def results(bank: str, sid: str, number: int) -> Key:
    """Return the beginning of the keys of all that was worked out for a window."""
    return Key(stream(bank, sid), f"P#{number:0{_WIDTH}}#")


def plan(bank: str, sid: str, number: int, part: int) -> Key:
    return Key(stream(bank, sid), f"P#{number:0{_WIDTH}}#L{part:03}")


def piece(bank: str, sid: str, number: int, part: int) -> Key:
    return Key(stream(bank, sid), f"P#{number:0{_WIDTH}}#X{part:06}")


def verdict(bank: str, sid: str, number: int, candidate: int) -> Key:
    return Key(stream(bank, sid), f"P#{number:0{_WIDTH}}#V{candidate:06}")


def scope(bank: str, cid: str) -> str:
    return f"C#{bank}#{cid}"


def version(bank: str, cid: str) -> Key:
    return Key(scope(bank, cid), "V")


def memory(bank: str, cid: str, memory_id: str) -> Key:
    return Key(scope(bank, cid), f"M#{memory_id}")


def revision(bank: str, cid: str, memory_id: str, number: int) -> Key:
    return Key(scope(bank, cid), f"R#{memory_id}#{number:0{_WIDTH}}")


def citation(bank: str, cid: str, memory_id: str, sid: str, window_number: int, candidate: int) -> Key:
    return Key(scope(bank, cid), f"T#{memory_id}#{sid}-{window_number}-{candidate}")


def cut(bank: str, sid: str) -> Key:
    return Key(stream(bank, sid), "CUT")


def imported(bank: str, sid: str) -> Key:
    """Return the key of what tells which import made a stream."""
    return Key(stream(bank, sid), "IMPORT")


def bank_erasure(bank_id: str) -> Key:
    return Key(f"BANK#{bank_id}", "ERASE")


def bank_transfer(bank_id: str, direction: str) -> Key:
    return Key(f"BANK#{bank_id}", direction)


def memory_name(bank: str, memory_id: str) -> Key:
    return Key(f"N#{bank}#{memory_id}", "N")


def registry(bank: str, shard: int) -> str:
    return f"K#{bank}#{shard}"


def registered_scope(bank: str, cid: str) -> Key:
    return Key(registry(bank, _shard(cid, REGISTRY_SHARDS)), f"C#{cid}")


def registered_stream(bank: str, cid: str, sid: str) -> Key:
    return Key(registry(bank, _shard(cid, REGISTRY_SHARDS)), f"S#{cid}#{sid}")


def session(bank: str, session_id: str) -> str:
    return f"X#{bank}#{session_id}"


def session_head(bank: str, session_id: str) -> Key:
    return Key(session(bank, session_id), "S")


def session_event(bank: str, session_id: str, number: int) -> Key:
    return Key(session(bank, session_id), f"E#{number:0{_WIDTH}}")


def registered_session(bank: str, session_id: str) -> Key:
    return Key(registry(bank, _shard(session_id, REGISTRY_SHARDS)), f"X#{session_id}")


def user_sessions(bank: str, user_key: str) -> str:
    """Return the partition of index `list` that the registry entries of a user's sessions are found in."""
    return f"{bank}#XU#{user_key}"


def chat(bank: str, name: str) -> str:
    """Return the partition of a conversation; *name* is the hash of its id, which may hold anything."""
    return f"H#{bank}#{name}"


def chat_pointer(bank: str, name: str) -> Key:
    return Key(chat(bank, name), "H")


def chat_chunks(bank: str, name: str, version: str, count: int) -> list[Key]:
    return [Key(chat(bank, name), f"C#{version}#{number:03}") for number in range(count)]


def chat_note(bank: str, name: str, version: str) -> Key:
    return Key(chat(bank, name), f"O#{version}")


def registered_chat(bank: str, name: str) -> Key:
    return Key(registry(bank, _shard(name, REGISTRY_SHARDS)), f"H#{name}")


def bank(bank_id: str) -> Key:
    return Key("BANKS", bank_id)


def bank_config(bank_id: str) -> Key:
    return Key(f"BANK#{bank_id}", "CONFIG")


def usage(bank_id: str, day: str) -> Key:
    return Key(f"U#{bank_id}", f"D#{day}")


# The partition of index `list` that all API keys are found in.
API_KEYS = "KEYS"


def api_key(key_id: str) -> Key:
    return Key(f"A#{key_id}", "KEY")


def due_partition(key: Key) -> str:
    """Return the partition of index `due` that *key* is found in."""
    return f"DUE#{_shard(key.pk + key.sk, DUE_SHARDS)}"


def due_partitions() -> list[str]:
    return [f"DUE#{shard}" for shard in range(DUE_SHARDS)]


def list_partition(bank_id: str, kind: str, name: str) -> str:
    """Return the partition of index `list` that the thing called *name* is found in."""
    return f"{bank_id}#{kind}#{_shard(name, LIST_SHARDS)}"


def list_partitions(bank_id: str, kind: str) -> list[str]:
    return [f"{bank_id}#{kind}#{shard}" for shard in range(LIST_SHARDS)]
