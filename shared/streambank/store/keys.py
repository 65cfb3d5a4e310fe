"""Every key of the table: this file alone writes keys and takes them apart.

S#{bank}#{sid}     HEAD, CUT, IMPORT, MOVED#{window}, B#{first seq}, D#{event}, W#{window}, P#{window}#{part}
C#{bank}#{cid}     V, M#{memory}, R#{memory}#{number}, T#{memory}#{sid}-{window}-{number}, F#{expiry}#{memory},
                   I#{call}, L#{version}, Q#{review}, MOVE#{number}, INDEX, Y#{memory}, YP#{memory}
N#{bank}#{memory}  N
X#{bank}#{session} S, E#{number}
H#{bank}#{chat}    H, C#{version}#{number}, A#{version}#{number}, O#{version}, I#{call}
K#{bank}#{shard}   C#{cid}, S#{cid}#{sid}, X#{session}, H#{chat}
BANKS              {bank}
BANK#{bank}        CONFIG, ERASE, EXPORT, IMPORT, POLICY, REINDEX
J#{bank}           REPLAY
A#{key id}         KEY
U#{bank}           D#{UTC day}
SECRETS            PAGES
IDS                SECRET
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

_WIDTH = 12  # digits, which keep numeric order in sort keys for any stream that will ever be
LAST_NUMBER = 10**_WIDTH - 1
LAST = "~"  # sorts behind every sort key of a kind, which are ASCII
LIST_SHARDS = 8
REGISTRY_SHARDS = 8
BANKS = "BANKS"
API_KEYS = "KEYS"  # the partition of index `list` that holds all of them


class Key(NamedTuple):
    """A primary key of the table."""

    pk: str
    sk: str


PAGE_SECRET = Key("SECRETS", "PAGES")
ID_SECRET = Key("IDS", "SECRET")


class Kind(StrEnum):
    """The first part of a sort key."""

    HEAD = "HEAD"
    BATCH = "B"
    MARKER = "D"
    WINDOW = "W"
    RESULT = "P"
    CUT = "CUT"
    VERSION = "V"
    MEMORY = "M"
    REVISION = "R"
    CITATION = "T"
    MOVE = "MOVE"
    MOVED = "MOVED"
    CALL = "I"
    TOMBSTONE = "F"
    REVIEW = "Q"
    CHANGE = "L"
    INDEX = "INDEX"
    ENTRY = "Y"
    PROFILE_ENTRY = "YP"
    SESSION_EVENT = "E"
    CHAT_NOTE = "O"
    ERASE = "ERASE"
    EXPORT = "EXPORT"
    IMPORT = "IMPORT"
    POLICY = "POLICY"
    REINDEX = "REINDEX"
    REPLAY = "REPLAY"
    SCOPE = "C"  # this and the following are entries of a registry
    STREAM = "S"
    SESSION = "X"
    CHAT = "H"

    @property
    def prefix(self) -> str:
        return f"{self.value}#"


class RegistryEntry(NamedTuple):
    """An entry of a bank's registry: *name* is a cid, sid or session id, or the hash of a conversation's id."""

    kind: str
    name: str
    cid: str = ""


def _shard(text: str, shards: int) -> int:
    return zlib.crc32(text.encode()) % shards


def stream(bank: str, sid: str) -> str:
    return f"S#{bank}#{sid}"


def head(bank: str, sid: str) -> Key:
    return Key(stream(bank, sid), Kind.HEAD.value)


def cut(bank: str, sid: str) -> Key:
    return Key(stream(bank, sid), Kind.CUT.value)


def stream_import(bank: str, sid: str) -> Key:
    return Key(stream(bank, sid), "IMPORT")  # the item that names the import which made the stream


def moved(bank: str, sid: str, number: int) -> Key:
    """Return the key of the item that names the stream to which the windows up to *number* were moved."""
    return Key(stream(bank, sid), f"{Kind.MOVED.prefix}{number:0{_WIDTH}}")


def batch(bank: str, sid: str, first_seq: int) -> Key:
    return Key(stream(bank, sid), f"B#{first_seq:0{_WIDTH}}")


def marker(bank: str, sid: str, event_key: str) -> Key:
    return Key(stream(bank, sid), f"D#{event_key}")


def window(bank: str, sid: str, number: int) -> Key:
    return Key(stream(bank, sid), f"W#{number:0{_WIDTH}}")


def results(bank: str, sid: str, number: int) -> Key:
    """Return the prefix of the keys of everything that was derived from a window."""
    return Key(stream(bank, sid), f"P#{number:0{_WIDTH}}#")


def candidates(bank: str, sid: str, number: int, part: int | None = None, digest: str = "") -> Key:
    """Return the key of a part of a window's candidates; a part that is not the first names the list's *digest*."""
    return _result(bank, sid, number, "C", part, 3, digest)


def plan(bank: str, sid: str, number: int, part: int | None = None, digest: str = "") -> Key:
    return _result(bank, sid, number, "L", part, 3, digest)


def piece(bank: str, sid: str, number: int, part: int) -> Key:
    return _result(bank, sid, number, "X", part, 6)


def verdicts(bank: str, sid: str, number: int, candidate: int | None = None) -> Key:
    """Return the key of a slice's verdicts; *candidate* is the first of the slice."""
    return _result(bank, sid, number, "V", candidate, 6)


def replay(bank: str, sid: str, number: int) -> Key:
    """Return the key of the newest replay of a window."""
    return _result(bank, sid, number, "R", 0, 1)


def replay_difference(bank: str, sid: str, number: int) -> Key:
    """Return the key of how the newest replay of the bank differs from a window's verdicts."""
    return _result(bank, sid, number, "D", 0, 1)


def is_of_replay(sk: str) -> bool:
    """Tell whether a result of a window is of a replay."""
    return sk.split("#")[2][:1] in ("R", "D")


def _result(bank: str, sid: str, number: int, kind: str, part: int | None, width: int, digest: str = "") -> Key:
    pk, prefix = results(bank, sid, number)
    return Key(pk, f"{prefix}{kind}" if part is None else f"{prefix}{kind}{part:0{width}}{digest}")


def scope(bank: str, cid: str) -> str:
    return f"C#{bank}#{cid}"


def version(bank: str, cid: str) -> Key:
    return Key(scope(bank, cid), Kind.VERSION.value)


def memory(bank: str, cid: str, memory_id: str) -> Key:
    return Key(scope(bank, cid), f"M#{memory_id}")


def revision(bank: str, cid: str, memory_id: str, number: int) -> Key:
    return Key(scope(bank, cid), f"{revision_prefix(memory_id)}{number:0{_WIDTH}}")


def revision_prefix(memory_id: str) -> str:
    return f"R#{memory_id}#"


def citation(bank: str, cid: str, memory_id: str, sid: str, window_number: int, candidate: int) -> Key:
    return Key(scope(bank, cid), f"{citation_prefix(memory_id)}{sid}-{window_number}-{candidate}")


def citation_prefix(memory_id: str) -> str:
    return f"T#{memory_id}#"


def move(bank: str, cid: str, number: int) -> Key:
    """Return the key of a move of a scope to another one; *cid* is of the first."""
    return Key(scope(bank, cid), f"{Kind.MOVE.prefix}{number}")


def tombstone(bank: str, cid: str, expires_ms: int, memory_id: str) -> Key:
    """Return the key of the tombstone of a deleted memory; a scope's are in the order of their expiry."""
    return Key(scope(bank, cid), f"F#{expires_ms:0{_WIDTH + 2}}#{memory_id}")


def review(bank: str, review_id: str) -> Key:
    """Return the key of a review; its id begins with the cid of its scope."""
    return Key(scope(bank, review_id.partition("-")[0]), f"Q#{review_id}")


def direct_call(bank: str, cid: str, call_key: str) -> Key:
    """Return the key of the item that names the stream of a direct generation; *call_key* is a hash of the caller's."""
    return Key(scope(bank, cid), f"I#{call_key}")


def change_record(bank: str, cid: str, version: int) -> Key:
    """Return the key of the record of a change; *version* is the version of the scope after it."""
    return Key(scope(bank, cid), f"{Kind.CHANGE.prefix}{version:0{_WIDTH}}")


def scope_index(bank: str, cid: str) -> Key:
    return Key(scope(bank, cid), Kind.INDEX.value)


def index_entry(bank: str, cid: str, memory_id: str, *, is_profile: bool = False) -> Key:
    """Return the key of a memory's entry in the vector index; those of profiles can be listed."""
    kind = Kind.PROFILE_ENTRY if is_profile else Kind.ENTRY
    return Key(scope(bank, cid), f"{kind.prefix}{memory_id}")


def memory_name(bank: str, memory_id: str) -> Key:
    return Key(f"N#{bank}#{memory_id}", "N")


def session(bank: str, session_id: str) -> str:
    return f"X#{bank}#{session_id}"


def session_head(bank: str, session_id: str) -> Key:
    return Key(session(bank, session_id), "S")


def session_event(bank: str, session_id: str, number: int) -> Key:
    return Key(session(bank, session_id), f"E#{number:0{_WIDTH}}")


def user_sessions(bank: str, user_key: str) -> str:
    """Return the partition of index `list` that holds the registry entries of a user's sessions."""
    return f"{bank}#XU#{user_key}"


def chat(bank: str, name: str) -> str:
    """Return the partition of a conversation; *name* is the hash of its id, which may hold anything."""
    return f"H#{bank}#{name}"


def chat_pointer(bank: str, name: str) -> Key:
    return Key(chat(bank, name), "H")


def chat_chunks(bank: str, name: str, version: str, count: int) -> list[Key]:
    return [Key(chat(bank, name), f"C#{version}#{number:03}") for number in range(count)]


def chat_block(bank: str, name: str, version: str, number: int) -> Key:
    """Return the key of a block of appended messages, which are numbered from 0."""
    return Key(chat(bank, name), f"A#{version}#{number:03}")


def chat_call(bank: str, name: str, call: str) -> Key:
    """Return the key of the marker of an append with an idempotency key."""
    return Key(chat(bank, name), f"I#{call}")


def chat_note(bank: str, name: str, version: str) -> Key:
    return Key(chat(bank, name), f"O#{version}")


def bank(bank_id: str) -> Key:
    return Key(BANKS, bank_id)


def bank_config(bank_id: str) -> Key:
    return Key(f"BANK#{bank_id}", "CONFIG")


def bank_erasure(bank_id: str) -> Key:
    return Key(f"BANK#{bank_id}", Kind.ERASE.value)


def bank_job(bank_id: str, kind: str) -> Key:
    return Key(f"BANK#{bank_id}", kind.upper())  # of `export`, `import`, `policy` or `reindex`


def bank_replay(bank_id: str) -> Key:
    """Return the key of a bank's replay: what a model steers writes no item of `BANK#`."""
    return Key(f"J#{bank_id}", Kind.REPLAY.value)


def usage(bank_id: str, day: str) -> Key:
    return Key(f"U#{bank_id}", f"D#{day}")


def api_key(key_id: str) -> Key:
    return Key(f"A#{key_id}", "KEY")


def registry(bank: str, shard: int) -> str:
    return f"K#{bank}#{shard}"


def registered_scope(bank: str, cid: str) -> Key:
    return Key(registry(bank, _shard(cid, REGISTRY_SHARDS)), f"C#{cid}")


def registered_stream(bank: str, cid: str, sid: str) -> Key:
    """Return the key of a stream's entry, or with an empty *sid* the prefix of those of a scope's streams."""
    return Key(registry(bank, _shard(cid, REGISTRY_SHARDS)), f"S#{cid}#{sid}")


def registered_session(bank: str, session_id: str) -> Key:
    return Key(registry(bank, _shard(session_id, REGISTRY_SHARDS)), f"X#{session_id}")


def registered_chat(bank: str, name: str) -> Key:
    return Key(registry(bank, _shard(name, REGISTRY_SHARDS)), f"H#{name}")


def list_partition(bank_id: str, kind: str, name: str) -> str:
    """Return the partition of index `list` that holds memory (kind M), session (X), change (L) or review (Q) *name*."""
    return f"{bank_id}#{kind}#{_shard(name, LIST_SHARDS)}"


def list_partitions(bank_id: str, kind: str) -> list[str]:
    return [f"{bank_id}#{kind}#{shard}" for shard in range(LIST_SHARDS)]


def key_of(item: Mapping[str, Any]) -> Key:
    return Key(item["PK"], item["SK"])


def kind_of(sk: str) -> str:
    """Return the first part of a sort key; one of `Kind`, or another."""
    return sk.partition("#")[0]


def name_in(key: str) -> str:
    """Return the second part of a key: a memory's id, an event's key, a window's number, a day."""
    return key.split("#")[1]


def result_kind(sk: str) -> str:
    """Return the kind of a result: C for candidates, L for a plan, X for an answer, V for verdicts."""
    return sk.split("#")[2][:1]


def cited_window(sk: str) -> tuple[str, int, int]:
    """Return the sid, the window and the candidate in a citation's sort key."""
    sid, number, candidate = sk.split("#")[2].rsplit("-", 2)
    return sid, int(number), int(candidate)


def registry_entry(sk: str) -> RegistryEntry:
    kind, *names = sk.split("#")
    return RegistryEntry(kind, names[-1], names[0] if kind in (Kind.SCOPE, Kind.STREAM) else "")


def owner(pk: str) -> tuple[str, str]:
    """Return the bank of a partition, and what the partition is of: a sid, a cid, a session's id ..., or empty."""
    _, bank_id, name = (*pk.split("#"), "")[:3]
    return bank_id, name
