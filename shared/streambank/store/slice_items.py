"""The writes of a slice of a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from streambank.errors import Conflict
from streambank.model.change_record import ChangeStamp
from streambank.model.ids import OperationId
from streambank.model.plan import Completion, Slice
from streambank.store import keys
from streambank.store.actions import Action, Update, equals, without
from streambank.store.changes import default_stamp, record_puts
from streambank.store.memory_items import change_actions, requests_values
from streambank.store.plan_items import verdicts_put
from streambank.store.review_items import review_put
from streambank.store.scope_versions import version_bump, window_progress
from streambank.store.windows import is_current_attempt


def slice_actions(
    bank: str,
    scope: Mapping[str, str],
    piece: Slice,
    completion: Completion | None,
    stamp: ChangeStamp | None,
    now: datetime,
) -> list[Action]:
    """Return the writes of a slice: its window, the scope's version, verdicts, changes, reviews and their record."""
    attempt = piece.attempt
    window_key = keys.window(bank, attempt.sid, attempt.window)
    guard = is_current_attempt(attempt.attempt) & equals(cur=piece.start)
    if completion and not completion.due:
        guard &= without("held") & without("nxt")
    actions: list[Action] = [Update(window_key, window_progress(piece, completion, window_key), guard)]
    if piece.end > piece.start:
        values = {} if piece.requests is None else requests_values(piece.requests)
        actions += version_bump(bank, scope, piece.version, piece.end - piece.start, values)
    if piece.verdicts:
        actions.append(verdicts_put(attempt, piece.verdicts, piece.expires))
    actions += [action for change in piece.changes for action in change_actions(bank, change, now)]
    actions += [review_put(bank, review) for review in piece.reviews]
    stamp = stamp or default_stamp(now, OperationId(attempt.sid, attempt.window))
    actions += record_puts(bank, scope, piece.version + piece.end - piece.start, piece.changes, stamp)
    return actions


def ids_in_use(bank: str, piece: Slice, actions: Sequence[Action], conflict: Conflict) -> list[str]:
    """Return the ids of new memories that others have, where nothing else is in the way of *piece*."""
    failed = {action.key for number, action in enumerate(actions) if conflict.failed(number)}
    new_ids = [change.after.id for change in piece.changes if change.before is None]
    names = {keys.memory_name(bank, memory_id): memory_id for memory_id in new_ids}
    return [names[key] for key in sorted(failed)] if failed <= names.keys() else []
