"""What every change of a scope writes beside memories: the scope's version, and the progress of a window."""

from __future__ import annotations

from collections.abc import Mapping

from streambank.model import ids
from streambank.model.plan import Completion, Slice
from streambank.model.window import WindowState
from streambank.store import codec, keys, text
from streambank.store.actions import Action, Put, Update, absent, equals, without
from streambank.store.attributes import milliseconds, seconds


def version_bump(
    bank: str, scope: Mapping[str, str], version: int, by: int, values: codec.Values | None = None
) -> list[Action]:
    """Return the actions that every change of a scope begins with: its *version* must be the one that was read."""
    key = keys.version(bank, ids.scope_id(scope))
    if version:
        return [Update(key, {**(values or {}), "ver": version + by}, equals(ver=version) & without("moving"))]
    spelled = text.dumps(dict(scope))
    entry = keys.registered_scope(bank, ids.scope_id(scope))
    return [Put(key, {**(values or {}), "ver": by, "sco": spelled}, absent()), Put(entry, {"sco": spelled})]


def window_progress(piece: Slice, completion: Completion | None, key: keys.Key) -> codec.Values:
    """Return what a slice changes of its window: the cursor, and its end where *completion* is given."""
    if completion is None:
        return {"cur": piece.end}
    return {
        "cur": piece.end,
        "st": WindowState.DONE,
        "end": milliseconds(completion.ended),
        "out": text.dumps(completion.outcome),
        "ttl": seconds(completion.expires),
        "fail": None,
        **codec.due_values(key, completion.due),
    }
