"""Moving a scope: all that one scope has becomes another one's, with its ids, revisions, sources and history.

Both scopes are closed to every writer of memories first. What was forgotten is known in the target before any event or
memory is there. Then each stream is handed over, and the memories follow. Each step is one transaction that also says
how far the move has come, and the sweep resumes a move that was interrupted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from streambank.errors import Conflict, Unavailable
from streambank.model import ids
from streambank.model.move import Move, MovePhase, StreamMove
from streambank.model.review import ReviewState
from streambank.model.stream import Head, StreamId
from streambank.pipeline.jobs import job
from streambank.pipeline.jobs.job import JobContext, Step
from streambank.rules import forgetting
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.rules.moved_reviews import moved_review
from streambank.rules.moves import names_in_target
from streambank.store.banks import Banks
from streambank.store.erasures import Erasures
from streambank.store.memories import Memories
from streambank.store.moved_memories import MovedMemories
from streambank.store.moved_streams import KINDS, MovedStreams
from streambank.store.moves import Moves, MoveStep
from streambank.store.reviews import Reviews

_NAME = "move of the scope"
_PHASES = tuple(MovePhase)
# How many names a stream is tried under, and how many moves are followed to see whether one comes back.
_MAX_NAMES = 1_000
_MAX_MOVES = 10


@dataclass(frozen=True, slots=True)
class MoveContext(JobContext):
    """What a move needs; *id_secret* is read where the scope has an open review."""

    moves: Moves
    moved_streams: MovedStreams
    moved_memories: MovedMemories
    reviews: Reviews
    memories: Memories
    erasures: Erasures
    banks: Banks
    id_secret: Callable[[], bytes]


def move_scope(bank: str, scope: Mapping[str, str], target: Mapping[str, str], *, context: MoveContext) -> Move:
    """Move a scope into another one and return how far the move has come; one that is under way is resumed.

    Raises:
        Unavailable: one of the scopes is being erased, or takes part in another move; or an export, an import or the
            application of a content policy is under way in the bank; or others write the same at every try.
    """
    under_way = context.moves.job_under_way(bank)
    if under_way:
        raise Unavailable(f"a move waits for what is under way in the bank: {under_way.lower()}; try again")
    move = job.begin(lambda: context.moves.begin(bank, scope, target, now=context.clock()), _NAME, context=context)
    job.check_request(move, dict(target), _NAME)
    return proceed(move, context=context)


def resume(bank: str, cid: str, number: int, *, context: MoveContext) -> Move | None:
    """Resume a move; None if it is not under way. Raises as `proceed` does."""
    move = context.moves.find(bank, cid, number)
    return proceed(move, context=context) if move and not move.ended else None


def proceed(move: Move, *, context: MoveContext) -> Move:
    """Go on with a move until it is done or the time is over, and return it as it is then.

    Of two runs the one that comes second to a step goes on behind it. Nothing is moved in a bank that is being deleted.

    Raises:
        Unavailable: what is moved is written by others at every try; the sweep resumes the move.
    """
    for _ in context.retry_policy.attempts():
        current = context.moves.find(move.bank, move.cid, move.number)
        if current is None or current.ended or context.banks.get(move.bank) is None:
            return current or move
        try:
            return job.proceed(_Run(current, context), context=context)
        except Conflict:
            continue
    raise Unavailable("what is moved is written by others at the same time; try again")


@dataclass(slots=True)
class _Run:
    """A run that writes one step after the other."""

    move: Move
    context: MoveContext

    def steps(self) -> Iterator[Step]:
        begun = _PHASES.index(MovePhase(str(self.move.cursor[0])))
        for phase in _PHASES[begun:]:
            for step in self._of_phase(phase):
                yield partial(self._write, step)

    def pause(self) -> Move:
        return self.move  # each step is recorded already

    def finish(self) -> Move:
        context, move = self.context, self.move
        sids = _sids(move, context)
        scopes = (context.memories.version(move.bank, scope) for scope in (move.target, move.scope))
        requests = [replace(one, sid=sids.get(one.sid, one.sid)) for scope in scopes for one in scope.requests]
        context.moves.finish(move, forgetting.kept(requests, now=context.clock()), now=context.clock())
        return context.moves.find(move.bank, move.cid, move.number) or move

    def _write(self, step: MoveStep) -> None:
        self.move = self.context.moves.write(self.move, step, now=self.context.clock())

    def _of_phase(self, phase: MovePhase) -> Iterator[MoveStep]:
        context, move = self.context, self.move
        after = str(move.cursor[1]) if move.cursor[0] == phase and len(move.cursor) > 1 else ""
        match phase:
            case MovePhase.TOMBSTONES:
                return context.moved_memories.tombstones(move, after, now=context.clock())
            case MovePhase.STREAMS:
                return _stream_steps(move, after, context)
            case MovePhase.REVISIONS:
                return context.moved_memories.revisions(move, after, _sids(move, context))
            case MovePhase.MEMORIES:
                return context.moved_memories.memories(move, after, _sids(move, context))
            case MovePhase.REVIEWS:
                return _review_steps(move, context)
            case MovePhase.REMAINS:
                return context.moved_memories.remains(move, after)


def _sids(move: Move, context: MoveContext) -> dict[str, str]:
    """Return the keys of the streams that were moved, each with its key in the target."""
    return {sid: moved.target.sid for sid, moved in context.moved_streams.of_source(move) if moved}


# ---- reviews


def _review_steps(move: Move, context: MoveContext) -> Iterator[MoveStep]:
    """Yield the steps of the open reviews; decided ones are of their scope alone."""
    bank, now = move.bank, context.clock()
    reviews = [one for one in context.reviews.of_scope(bank, move.scope, now=now) if one.state is ReviewState.OPEN]
    if not reviews:
        return iter(())
    facts = {one.id: one.fact for one in context.memories.each_of_scope(bank, move.target, now=now)}
    before, after = (KeyedHashes.of_scope(context.id_secret(), bank, scope) for scope in (move.scope, move.target))
    sids = _sids(move, context)
    pairs = [(one, moved_review(one, move.target, facts, sids, before=before, after=after)) for one in reviews]
    return context.moved_memories.reviews(move, pairs)


# ---- streams


def _stream_steps(move: Move, after: str, context: MoveContext) -> Iterator[MoveStep]:
    """Yield the steps of each stream from the one with the key *after* on."""
    for sid, moved in context.moved_streams.of_source(move):
        if sid == after and moved:
            kind, sk = int(move.cursor[2]), str(move.cursor[3])
            yield from _rest_of_stream(move, moved, kind, sk, context)
        elif sid > after:
            yield from _whole_stream(move, sid, context)


def _whole_stream(move: Move, sid: str, context: MoveContext) -> Iterator[MoveStep]:
    streams = context.moved_streams
    head = streams.heads(move.bank, [sid]).get(sid)
    if head is None:
        counts = Counter(streams=1)
        context.erasures.count_stream(move.bank, sid, counts)
        yield streams.adopt(move, sid, counts) or streams.passed(sid)
    elif streams.left_for(head) is not None:
        yield streams.passed(sid)
    else:
        target, into, markers = _destination(move, head, context)
        moved, cut = streams.cut(move, head, target, into, markers)
        yield cut
        yield from _rest_of_stream(move, moved, 0, "", context)


def _rest_of_stream(move: Move, moved: StreamMove, kind: int, after: str, context: MoveContext) -> Iterator[MoveStep]:
    streams, now = context.moved_streams, context.clock()
    for number in range(kind, len(KINDS)):
        yield from streams.items(move, moved, number, after if number == kind else "", now=now)
    if kind <= len(KINDS):
        yield from streams.windows_due(move, moved, now=now)
        yield streams.open(move, moved, now=now)


def _destination(move: Move, head: Head, context: MoveContext) -> tuple[StreamId, Head | None, Head | None]:
    """Return the stream that this one becomes, its head where it was left, and that of the target's own with the name.

    It gets a name of its own where the target has used the name for something else.
    """
    own: Head | None = None
    for name in islice(names_in_target(head.stream.name, move.cid), _MAX_NAMES):
        target = StreamId(move.bank, ids.stream_key(move.target, name), move.target, name)
        present = context.moved_streams.heads(move.bank, [target.sid]).get(target.sid)
        if present is None or _comes_back(present, head, context):
            return target, present, own
        own = own or present
    raise Unavailable("the target has too many streams of the same name")


def _comes_back(left: Head, head: Head, context: MoveContext) -> bool:
    """Tell whether all that *left* had is what *head* has now."""
    streams, bank = context.moved_streams, head.stream.bank
    for _ in range(_MAX_MOVES):
        sid = streams.left_for(left)
        following = streams.heads(bank, [sid]).get(sid) if sid else None
        if sid == head.stream.sid or following is None:
            return sid == head.stream.sid
        left = following
    return False


# ---- dry runs


def count_scope(bank: str, scope: Mapping[str, str], *, context: MoveContext) -> dict[str, int]:
    """Return how many things of each kind a move of a scope would move now."""
    counts, cid = Counter[str](), ids.scope_id(scope)
    sids = context.erasures.streams(bank, cid)
    heads = context.moved_streams.heads(bank, sids)
    for sid in sids:
        head = heads.get(sid)
        if head is None or context.moved_streams.left_for(head) is None:
            counts["streams"] += 1
            context.erasures.count_stream(bank, sid, counts)
    context.erasures.count_memories(bank, cid, counts)
    return {kind: count for kind, count in counts.items() if count}
