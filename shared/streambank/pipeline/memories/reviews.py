"""Reviews of memories: listing them, accepting and rejecting one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from streambank.errors import Conflict, FailedPrecondition, NotFound, Unavailable
from streambank.model import ids
from streambank.model.change_record import ChangeStamp
from streambank.model.memory import Change, Memory
from streambank.model.review import Review, ReviewAction, ReviewState, ReviewWithMemories
from streambank.model.rule import Reason
from streambank.model.stream import StreamId
from streambank.model.window import Window
from streambank.pipeline.memories.edit import EditContext
from streambank.pipeline.memories.scope_reader import NearText, Needed, ScopeReader
from streambank.rules import citations
from streambank.rules import reviews as rules
from streambank.rules.bank_config import bank_config
from streambank.rules.changes import record_expiry
from streambank.rules.consolidation import WindowPolicy
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.rules.moved_tombstones import with_current_hashes
from streambank.store.attributes import milliseconds
from streambank.store.list_index import ListEntry
from streambank.store.reviews import Reviews
from streambank.store.scope_view import ScopeView
from streambank.store.streams import RetentionPolicy
from streambank.store.windows import Windows
from streambank.wire.page_room import PageRoom

# How many reviews of a bank one call reads: with a filter that matches few of them, a page is short and has a token.
MAX_READ = 1_000
# How many ids of deleted memories the acceptance of one review passes over.
_MAX_IDS = 100
# How many memories near a review's text are read of a large scope, to see whether one says the same.
_NEAR = 20
ReviewCursor = tuple[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewContext(EditContext):
    """What a decision about a review needs, beside what an edit does."""

    reader: ScopeReader
    reviews: Reviews
    windows: Windows
    retention_policy: RetentionPolicy


@dataclass(frozen=True, slots=True)
class ReviewListing:
    """The request for a page of open reviews: of one *scope*, or of the bank."""

    scope: Mapping[str, str] | None
    matches: Callable[[Review], bool]
    size: int
    after: ReviewCursor | None
    weigh: Callable[[ReviewWithMemories], int]


# ---- listing


def list_reviews(
    bank: str, listing: ReviewListing, *, context: ReviewContext
) -> tuple[list[ReviewWithMemories], ReviewCursor | None]:
    """Return a page of open reviews, newest first, and where it ends if more may follow.

    A review whose memory is gone is not listed. Raises OutOfReach: the table did not answer.
    """
    page, end = list[ReviewWithMemories](), listing.after
    room = PageRoom(listing.size, listing.weigh)
    runs = _of_bank(bank, listing, context) if listing.scope is None else _of_scope(bank, listing.scope, context)
    for count, (entry, one) in enumerate(_after(runs, listing.after)):
        is_listed = one is not None and _is_whole(one) and listing.matches(one.review)
        if count == MAX_READ or (one and is_listed and not room.admits(one)):
            return page, end
        page += [one] if one and is_listed else []
        end = entry
    return page, None


Rows = Iterator[tuple[ReviewCursor, ReviewWithMemories | None]]


def _of_bank(bank: str, listing: ReviewListing, context: ReviewContext) -> Rows:
    """Yield what index `list` names, with the reviews that are still open."""
    after, size = listing.after, max(listing.size, 100)
    while entries := context.reviews.listed(bank, size, after):
        read = context.reviews.read_listed(bank, entries, now=context.now)
        open_ones = {one.review.id: one for one in read}
        yield from (((entry.created_ms, entry.name), open_ones.get(entry.name)) for entry in entries)
        after = _cursor_behind(entries[-1])


def _cursor_behind(entry: ListEntry) -> ReviewCursor:
    return entry.created_ms, entry.name


def _of_scope(bank: str, scope: Mapping[str, str], context: ReviewContext) -> Rows:
    stored = context.reviews.of_scope(bank, scope, now=context.now)
    open_ones = [one for one in stored if one.state is ReviewState.OPEN]
    rows = context.reviews.with_memories(bank, open_ones, now=context.now)
    cursors = (((milliseconds(one.review.created) or 0, one.review.id), one) for one in rows)
    return iter(sorted(cursors, key=lambda row: row[0], reverse=True))


def _after(rows: Iterable[tuple[ReviewCursor, ReviewWithMemories | None]], after: ReviewCursor | None) -> Rows:
    return ((cursor, one) for cursor, one in rows if after is None or cursor < after)


def _is_whole(one: ReviewWithMemories) -> bool:
    return len(one.memories) == len(one.review.memories)


# ---- decisions


def accept(
    bank: str, review_id: str, *, may_see: Callable[[Mapping[str, str]], bool], context: ReviewContext
) -> ReviewWithMemories:
    """Make the change that a review waits with, and return what is left of it with the memories as they are then.

    An accepted review is accepted again with no effect.

    Raises:
        NotFound: there is no such review, its memory is gone, or it is of a scope that the caller may not see.
        FailedPrecondition: it was rejected, or a memory has changed since, or what it says was deleted.
        GenerationError: the text could not be embedded.
        Unavailable: the scope is written by others at the same time, or is being erased.
    """
    vectors = list[bytes]()

    def changed(review: Review, view: ScopeView) -> tuple[Review, list[Change], ChangeStamp]:
        memories = {one.id: one for one in view.memories}
        hashes = KeyedHashes.of_scope(context.id_secret, bank, review.scope)
        left = context.memories.tombstones(bank, review.scope, now=context.now)
        left = with_current_hashes(left, hashes, (), [review.text])
        rules.check_acceptable(review, memories, left, hashes)
        policy = WindowPolicy(
            _window(bank, review, context), bank_config(context.banks.document(bank), review.scope), hashes
        )
        if review.text and not review.profile and not vectors:  # once, and not for what cannot be accepted
            vectors.append(context.vector(bank, policy.config, review.text))
        new_id = _new_id(bank, review, context) if review.action is ReviewAction.CREATE else ""
        vector = vectors[0] if vectors else b""
        changes = rules.accepted_changes(review, memories, policy, vector, new_id, now=context.now)
        cited = [_with_citation(one, review, policy.window, context) for one in changes]
        mark = rules.mark_of(review, ReviewState.ACCEPTED, (one.after.id for one in changes))
        return mark, cited, ChangeStamp(context.now, record_expiry(policy.config, now=context.now))

    return _decide(bank, review_id, ReviewState.ACCEPTED, changed, may_see, context)


def reject(
    bank: str, review_id: str, *, may_see: Callable[[Mapping[str, str]], bool], context: ReviewContext
) -> ReviewWithMemories:
    """Drop the change that a review waits with; the same events do not propose it again.

    A rejected review is rejected again with no effect.

    Raises:
        NotFound: there is no such review, its memory is gone, or it is of a scope that the caller may not see.
        FailedPrecondition: it was accepted.
        Unavailable: the scope is written by others at the same time, or is being erased.
    """

    def changed(review: Review, _view: ScopeView) -> tuple[Review, list[Change], None]:
        return rules.mark_of(review, ReviewState.REJECTED, (one.id for one in review.memories)), [], None

    return _decide(bank, review_id, ReviewState.REJECTED, changed, may_see, context)


def _decide(
    bank: str,
    review_id: str,
    state: ReviewState,
    changed: Callable[[Review, ScopeView], tuple[Review, list[Change], ChangeStamp | None]],
    may_see: Callable[[Mapping[str, str]], bool],
    context: ReviewContext,
) -> ReviewWithMemories:
    """Decide a review at one version of its scope, again if others write the scope meanwhile."""
    for _ in context.retry_policy.attempts():
        before = _visible(bank, review_id, may_see, context)
        scope = before.scope
        view = context.reader.view(bank, scope, _needed(before), now=context.now)
        review = _visible(bank, review_id, may_see, context)  # read after the version, never before
        if review.state is not ReviewState.OPEN:
            return _decided(review, state, view)
        if {one.id for one in review.memories} - {one.id for one in view.memories}:
            raise _no_review(review_id)
        if view.erasing:
            raise Unavailable("the scope is being erased; try again")
        mark, changes, stamp = changed(review, view)
        dropped = rules.dropped_marks(context.reviews.of_scope(bank, scope, now=context.now))
        try:
            context.reviews.decide(bank, view.version, mark, changes, dropped, now=context.now, stamp=stamp)
        except Conflict:
            continue
        live = {one.id: one for one in view.memories} | {one.after.id: one.after for one in changes}
        return ReviewWithMemories(mark, _live_memories(mark, live.values()))
    raise Unavailable("the scope is written by others at the same time; try again")


def _needed(review: Review) -> Needed:
    """Return what a decision reads of a large scope: what the review changes, and what may say the same."""
    near = [] if review.profile else [NearText(review.text or review.fact, b"", _NEAR)]
    return Needed(near, [one.id for one in review.memories], profiles=bool(review.profile))


def _visible(bank: str, review_id: str, may_see: Callable[[Mapping[str, str]], bool], context: ReviewContext) -> Review:
    review = context.reviews.find(bank, review_id, now=context.now)
    if review is None or not may_see(review.scope):
        raise _no_review(review_id)
    return review


def _no_review(review_id: str) -> NotFound:
    return NotFound(f"there is no review {review_id!r}")


def _decided(review: Review, state: ReviewState, view: ScopeView) -> ReviewWithMemories:
    """Return a review that was decided before. Raises FailedPrecondition if the decision was another one."""
    if review.state is not state:
        raise FailedPrecondition(f"review {review.id!r} was {review.state.lower()} before")
    return ReviewWithMemories(review, _live_memories(review, view.memories))


def _live_memories(review: Review, memories: Iterable[Memory]) -> tuple[Memory, ...]:
    names = {one.id for one in review.memories}
    return tuple(one for one in memories if one.id in names and one.deleted is None)


def _window(bank: str, review: Review, context: ReviewContext) -> Window:
    """Return the window that proposed the change last: its settings are those of the change.

    The window of an imported review may be another one here: its number alone is known, and it has no settings.
    """
    newest = review.evidence[-1]
    if review.is_imported:
        stream = StreamId(bank, newest.sid, review.scope, "")
        seqs = newest.seqs or (0,)
        return Window(stream, newest.window, seqs[0], seqs[-1], Reason.NO_RULE, review.at, review.at)
    window = context.windows.get(bank, newest.sid, newest.window)
    if window is None:
        raise FailedPrecondition("the window of the review has expired; reject the review")
    return window


def _new_id(bank: str, review: Review, context: ReviewContext) -> str:
    """Return an id for the memory that *review* creates: the first of those derived that no memory has, or had."""
    for choice in range(_MAX_IDS):
        memory_id = ids.secret_id(context.id_secret, "review", bank, review.id, str(choice))
        if context.memories.find_or_deleted(bank, memory_id, now=context.now) is None:
            return memory_id
    raise Unavailable("the memory was made and deleted many times within 48 hours; try again later")


def _with_citation(change: Change, review: Review, window: Window, context: ReviewContext) -> Change:
    """Return *change* with the text of the events that it cites, where its memory lives and the events are kept."""
    seqs = review.evidence[-1].seqs
    if change.after.deleted or not seqs or review.is_imported:
        return change
    events = [*context.windows.overlap(window), *context.windows.events(window)]
    retention = context.retention_policy.retention
    citation = citations.citation(window, review.number, seqs, events, retention=retention)
    return replace(change, citation=citation if citation and citation.is_live(context.now) else None)
