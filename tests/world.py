"""The whole service without HTTP and without threads: pipelines over moto's table, a clock that tests move.

The model is scripted: one fact for each event that its conversation's user said.
"""

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from streambank.errors import ModelUnavailable
from streambank.llm.ports import (
    Action,
    Consolidation,
    ConsolidationRequest,
    Decision,
    ExtractedFact,
    Extraction,
    ExtractionRequest,
    Usage,
)
from streambank.model.change_record import ChangedMemory, ChangeKind
from streambank.model.ids import OperationId
from streambank.model.operation import Operation, Receipt
from streambank.model.scope_index import LARGE_SCOPE
from streambank.model.window import Attempt
from streambank.pipeline import sweep
from streambank.pipeline.events import on_record
from streambank.pipeline.events.ingest import IngestContext, ingest
from streambank.pipeline.generation import commit, consolidate, extract, fail
from streambank.pipeline.generation.generate import GenerateContext
from streambank.pipeline.generation.operations import OperationContext, get_operation
from streambank.pipeline.generation.redrive import RedriveContext
from streambank.pipeline.generation.replay_window import ReplayWindowContext
from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.pipeline.jobs import (
    erase,
    export,
    import_records,
    index_scope,
    move,
    policy_job,
    reindex,
    replay,
    start_replay,
)
from streambank.pipeline.memories.edit import EditContext
from streambank.pipeline.memories.scope_reader import ScopeReader
from streambank.pipeline.memories.search import SearchContext
from streambank.pipeline.screening.screening import Screenings
from streambank.retry import RetryPolicy
from streambank.rules import vectors
from streambank.rules.model_choice import requested_model
from streambank.store.banks import Banks
from streambank.store.changes import Changes
from streambank.store.chat_histories import ChatHistories
from streambank.store.consents import Consents
from streambank.store.cuts import Cuts
from streambank.store.due import DueIndex
from streambank.store.erasures import Erasures
from streambank.store.events import Events
from streambank.store.executions import Executions as ExecutionsPort
from streambank.store.exports import Exports
from streambank.store.imports import Imports
from streambank.store.memories import Memories
from streambank.store.moved_memories import MovedMemories
from streambank.store.moved_streams import MovedStreams
from streambank.store.moves import Moves
from streambank.store.objects import Objects
from streambank.store.plans import Plans
from streambank.store.policy_jobs import PolicyJobs
from streambank.store.reindexes import Reindexes
from streambank.store.replays import Replays
from streambank.store.reviews import Reviews
from streambank.store.rewrites import Rewrites
from streambank.store.scope_indexes import ScopeIndexes
from streambank.store.sessions import Sessions
from streambank.store.streams import RetentionPolicy, Streams
from streambank.store.table import Table
from streambank.store.transfers import Transfers
from streambank.store.usage import UsageStore
from streambank.store.windows import Windows
from streambank.wire.ingest import ingest_call
from tests import aws

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SCOPE = {"user_id": "u1"}


def event(text: str, event_id: str | None = None, role: str = "user", **more: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"content": {"role": role, "parts": [{"text": text}]}, **more}
    return body if event_id is None else {**body, "eventId": event_id}


class OneFactPerEvent:
    """A model that takes every user's event of the window for a fact; what it was shown is kept."""

    def __init__(self) -> None:
        self.requests: list[ExtractionRequest] = []

    def extract(self, request: ExtractionRequest) -> Extraction:
        self.requests.append(request)
        facts = (
            ExtractedFact(turn.text, (turn.number,), "KEY_CONVERSATION_DETAILS")
            for turn in request.turns
            if turn.role == "user" and not turn.context
        )
        return Extraction(tuple(facts), Usage(1, sum(len(turn.text) for turn in request.turns)))


class Unreliable(OneFactPerEvent):
    """Takes each event for a fact, and is away as long as a test says so."""

    is_away = False

    def extract(self, request: Any) -> Any:
        if self.is_away:
            raise ModelUnavailable("scripted")
        return super().extract(request)


class SameTextIsTheSame:
    """A model that takes equal texts for one memory and everything else for new."""

    def __init__(self) -> None:
        self.requests: list[ConsolidationRequest] = []

    def consolidate(self, request: ConsolidationRequest) -> Consolidation:
        self.requests.append(request)
        known = {memory.fact: memory.number for memory in request.memories}
        decisions = []
        for fact in request.facts:
            action = Action.NONE if fact.fact in known else Action.CREATE
            memories = (known[fact.fact],) if fact.fact in known else ()
            decisions.append(Decision(fact.number, action, memories, fact.fact, "scripted"))
        return Consolidation(tuple(decisions), Usage(1, 0))


class HashEmbedder:
    """Equal texts are near, others are far: enough where meaning is not the point."""

    is_local = True

    def embed(self, texts: Sequence[str], *, model: str | None = None, for_query: bool = False) -> list[bytes]:
        digests = (hashlib.sha256(text.encode()).digest() for text in texts)
        return [vectors.pack(byte - 127.5 for byte in digest) for digest in digests]


class Clock:
    """Stands still until a test moves it."""

    def __init__(self) -> None:
        self.instant = START

    def __call__(self) -> datetime:
        return self.instant

    def move(self, **span: float) -> None:
        self.instant += timedelta(**span)


@dataclass
class World:
    """Everything wired together over one client."""

    client: Any
    clock: Clock = field(default_factory=Clock)
    executions: aws.Executions = field(default_factory=aws.Executions)
    extractor: Any = field(default_factory=OneFactPerEvent)
    consolidator: Any = field(default_factory=SameTextIsTheSame)
    embedder: Any = field(default_factory=HashEmbedder)
    daily_tokens: int | None = None
    call_tokens: int = 24_000
    id_secret: bytes = b"the deployment's own"
    s3: Any = None
    large_scope: int = LARGE_SCOPE
    retention_policy: RetentionPolicy = field(
        default_factory=lambda: RetentionPolicy(timedelta(days=90), timedelta(days=90))
    )

    @property
    def token_budget(self) -> TokenBudget:
        books_embeddings = not self.embedder.is_local
        return TokenBudget(
            UsageStore(self.table), self.daily_tokens, self.call_tokens, books_embeddings=books_embeddings
        )

    def __post_init__(self) -> None:
        self.random = random.Random(7)
        self.retry_policy = RetryPolicy(lambda _seconds: None, self.random.random)
        self.table = Table(self.client, aws.TABLE, self.retry_policy)
        self.streams, self.windows = Streams(self.table), Windows(self.table)
        self.plans = Plans(self.table)
        self.memories, self.banks, self.reviews = Memories(self.table), Banks(self.table), Reviews(self.table)
        self.indexes = ScopeIndexes(self.table)
        self.reader = ScopeReader(self.memories, self.indexes, Changes(self.table), self.large_scope)
        self.histories, self.erasures = ChatHistories(self.table), Erasures(self.table)
        self.port = ExecutionsPort(self.executions, aws.MACHINE_ARN)

    # ---- what callers do

    @property
    def ingestion(self) -> IngestContext:
        return IngestContext(self.streams, self.windows, self.clock, self.retry_policy, self.retention_policy)

    def ingest(self, *events: dict[str, Any], bank: str = "default", key: str | None = None, **fields: Any) -> Receipt:
        """Send one call; *fields* are the request's own, `rule` stands for the trigger's generationRule."""
        body: dict[str, Any] = {"scope": SCOPE, **fields}
        if "rule" in body:
            body["generationTriggerConfig"] = {"generationRule": body.pop("rule")}
        if events:
            body["directContentsSource"] = {"events": list(events)}
        return ingest(ingest_call(body, bank=bank, idempotency_key=key), context=self.ingestion)

    @property
    def redriving(self) -> RedriveContext:
        return RedriveContext(self.streams, self.windows, self.plans, self.port, self.clock())

    @property
    def generating(self) -> GenerateContext:
        return GenerateContext(self.streams, self.windows, self.banks, self.retention_policy, self.clock())

    @property
    def operations(self) -> OperationContext:
        return OperationContext(self.streams, self.windows, self.plans)

    def operation(self, operation: OperationId, bank: str = "default") -> Operation:
        return get_operation(bank, operation, context=self.operations)

    def facts(self, scope: dict[str, str] | None = None, bank: str = "default") -> list[str]:
        found = self.memories.of_scope(bank, scope or SCOPE, now=self.clock())
        return sorted(memory.fact for memory in found)

    def told(self, scope: dict[str, str] | None = None, bank: str = "default") -> list[ChangedMemory]:
        """Return all changes of a scope that its feed has."""
        records = Changes(self.table).of_scope(bank, scope or SCOPE, 0, now=START, page=100)
        return [memory for record in records for memory in record.memories]

    def live_by_feed(self, scope: dict[str, str] | None = None) -> set[str]:
        """Return the ids of the memories that live on by what the feed tells."""
        live: set[str] = set()
        for one in self.told(scope):
            match one.kind:
                case ChangeKind.CREATED | ChangeKind.RESTORED:
                    live.add(one.memory_id)
                case ChangeKind.DELETED | ChangeKind.MERGED:
                    live.remove(one.memory_id)
                case ChangeKind.ERASED:
                    live.clear()
        return live

    # ---- what AWS does

    def sweeper(self) -> sweep.SweepContext:
        return sweep.SweepContext(
            due=DueIndex(self.table),
            streams=self.streams,
            windows=self.windows,
            memories=self.memories,
            banks=self.banks,
            erase_context=self.erasing(),
            move_context=self.moving(),
            export_context=lambda _time: self.exporting(),
            import_context=lambda _time: self.importing(),
            reindex_context=lambda _time: self.reindexing(),
            index_context=lambda _time: self.indexing(),
            policy_context=lambda _time: self.applying_policy(),
            replay_context=self.starting_replays(),
            executions=self.port,
            retention_policy=self.retention_policy,
            clock=self.clock,
            jitter=self.random.random,
        )

    def sweep(self) -> sweep.SweepReport:
        return sweep.sweep(context=self.sweeper(), has_time=lambda: True)

    def moving(self, has_time: Callable[[], bool] = lambda: True) -> move.MoveContext:
        return move.MoveContext(
            self.retry_policy,
            self.clock,
            has_time,
            moves=Moves(self.table),
            moved_streams=MovedStreams(self.table),
            moved_memories=MovedMemories(self.table),
            reviews=Reviews(self.table),
            memories=self.memories,
            erasures=self.erasures,
            banks=self.banks,
            id_secret=lambda: self.id_secret,
        )

    def erasing(self, has_time: Callable[[], bool] = lambda: True) -> erase.EraseContext:
        return erase.EraseContext(
            self.retry_policy,
            self.clock,
            has_time,
            erasures=self.erasures,
            cuts=Cuts(self.table),
            streams=self.streams,
            sessions=Sessions(self.table),
            histories=self.histories,
            retention_policy=self.retention_policy,
        )

    def exporting(self, has_time: Callable[[], bool] = lambda: True, **more: Any) -> export.ExportContext:
        return export.ExportContext(
            self.retry_policy,
            self.clock,
            has_time,
            transfers=Transfers(self.table),
            objects=self.objects,
            banks=self.banks,
            exports=Exports(self.table, lambda: self.id_secret),
            **more,
        )

    def importing(self, has_time: Callable[[], bool] = lambda: True) -> import_records.ImportContext:
        return import_records.ImportContext(
            self.retry_policy,
            self.clock,
            has_time,
            transfers=Transfers(self.table),
            objects=self.objects,
            banks=self.banks,
            imports=Imports(self.table),
            consents=Consents(self.table),
            reviews=self.reviews,
            sessions=Sessions(self.table),
            embedder=self.embedder,
            token_budget=self.token_budget,
            retention_policy=self.retention_policy,
            id_secret=self.id_secret,
        )

    def reindexing(self, has_time: Callable[[], bool] = lambda: True) -> reindex.ReindexContext:
        return reindex.ReindexContext(
            self.retry_policy,
            self.clock,
            has_time,
            reindexes=Reindexes(self.table),
            indexes=self.indexes,
            banks=self.banks,
            embedder=self.embedder,
            token_budget=self.token_budget,
        )

    def indexing(self, has_time: Callable[[], bool] = lambda: True) -> index_scope.IndexContext:
        return index_scope.IndexContext(
            self.retry_policy,
            self.clock,
            has_time,
            indexes=self.indexes,
            memories=self.memories,
            changes=Changes(self.table),
            large=self.large_scope,
        )

    def applying_policy(self, has_time: Callable[[], bool] = lambda: True) -> policy_job.PolicyJobContext:
        return policy_job.PolicyJobContext(
            self.retry_policy,
            self.clock,
            has_time,
            jobs=PolicyJobs(self.table),
            rewrites=Rewrites(self.table),
            histories=self.histories,
            banks=self.banks,
            embedder=self.embedder,
            token_budget=self.token_budget,
            screenings=Screenings(),
        )

    def starting_replays(self) -> start_replay.StartReplayContext:
        return start_replay.StartReplayContext(
            self.retry_policy,
            self.clock,
            lambda: True,
            replays=Replays(self.table),
            operations=self.operations,
            executions=self.port,
        )

    def replaying(self, has_time: Callable[[], bool] = lambda: True) -> replay.ReplayContext:
        return replay.ReplayContext(
            self.retry_policy,
            self.clock,
            has_time,
            replays=Replays(self.table),
            banks=self.banks,
            streams=self.streams,
            windows=self.windows,
            of_window=ReplayWindowContext(
                windows=self.windows,
                plans=self.plans,
                memories=self.memories,
                reader=self.reader,
                extractor=self.extractor,
                consolidator=self.consolidator,
                embedder=self.embedder,
                token_budget=self.token_budget,
                id_secret=self.id_secret,
                model_name=requested_model,
                now=self.clock(),
            ),
        )

    @property
    def objects(self) -> Objects:
        """The bucket of exports; a test that needs it makes it (`aws.bucket`)."""
        return Objects(self.s3, aws.BUCKET)

    def searching(self, embedder: Any = None) -> SearchContext:
        return SearchContext(
            memories=self.memories,
            reader=self.reader,
            events=Events(self.table),
            banks=self.banks,
            embedder=embedder or self.embedder,
            token_budget=self.token_budget,
            id_secret=lambda: self.id_secret,
            now=self.clock(),
        )

    def editing(self) -> EditContext:
        return EditContext(
            memories=self.memories,
            banks=self.banks,
            embedder=self.embedder,
            token_budget=self.token_budget,
            retry_policy=self.retry_policy,
            id_secret=self.id_secret,
            now=self.clock(),
        )

    def react(self, pk: str, sk: str) -> None:
        context = on_record.OnRecordContext(self.streams, self.windows, self.port, self.indexing, self.clock)
        on_record.on_record(on_record.ChangedItem.of(pk, sk), context=context)

    def deliver(self) -> None:
        """Deliver a stream record of every head and window there is, and of every scope that may have an index."""
        kinds = ("HEAD", "V") if self.large_scope < LARGE_SCOPE else ("HEAD",)
        for pk, sk in aws.keys(self.client):
            if sk in kinds or sk.startswith("W#"):
                self.react(pk, sk)

    def stirring(self) -> list[tuple[str, str]]:
        """Return the keys of heads that must be sealed, and of windows that no execution was started for."""
        found = aws.dump(self.client)
        due = [item for item in found if item.get("ripe", {}).get("N") == "1"]
        new = [item for item in found if item["SK"]["S"].startswith("W#") and item["st"]["S"] == "SEALED"]
        return [(item["PK"]["S"], item["SK"]["S"]) for item in [*due, *new]]

    def run(self) -> int:
        """Run the executions that are under way to their ends."""
        return self.executions.run(self.tasks())

    def settle(self) -> None:
        """Deliver and run until nothing moves any more; the clock stands still."""
        for _ in range(100):
            self.deliver()  # seals what must be sealed
            self.deliver()  # starts what was sealed
            if not self.run():
                return
        raise AssertionError("the service does not come to rest")

    def recover(self, minutes: int = 150) -> None:
        """Let nothing but the minute sweep and the state machine work for a while: no stream record arrives."""
        for _ in range(minutes):
            self.clock.move(minutes=1)
            report = self.sweep()
            assert not report.faults, report.faults
            self.run()

    def finish(self, steps: int = 400) -> None:
        """Jump from one due time to the next, with nothing but the sweep and the machine, until nothing is due."""
        for _ in range(steps):
            due = aws.earliest_due(self.client, self.clock().timestamp())
            if due is None and not self.executions.running:
                return
            if due is not None:
                self.clock.instant = max(self.clock.instant, datetime.fromtimestamp(due, UTC))
            report = self.sweep()
            assert not report.faults, report.faults
            self.run()
        raise AssertionError("something stays due for ever")

    def tasks(self) -> dict[str, Any]:
        return {
            "Extract": self._extract,
            "Consolidate": self._consolidate,
            "Commit": self._commit,
            "Fail": self._fail,
            "Replay": self._replay,
        }

    def _replay(self, payload: dict[str, Any]) -> dict[str, Any]:
        return {"outcome": replay.run(payload["bank"], payload["replay"], payload["run"], context=self.replaying())}

    def _extract(self, payload: dict[str, Any]) -> dict[str, Any]:
        context = extract.ExtractContext(
            windows=self.windows,
            plans=self.plans,
            banks=self.banks,
            memories=self.memories,
            reader=self.reader,
            extractor=self.extractor,
            embedder=self.embedder,
            token_budget=self.token_budget,
            retention_policy=self.retention_policy,
            id_secret=self.id_secret,
            now=self.clock(),
        )
        return {"outcome": extract.extract(_attempt(payload), context=context)}

    def _consolidate(self, payload: dict[str, Any]) -> dict[str, Any]:
        context = consolidate.ConsolidateContext(
            windows=self.windows,
            plans=self.plans,
            banks=self.banks,
            memories=self.memories,
            reader=self.reader,
            consolidator=self.consolidator,
            embedder=self.embedder,
            token_budget=self.token_budget,
            retention_policy=self.retention_policy,
            id_secret=self.id_secret,
            now=self.clock(),
        )
        return {"outcome": consolidate.consolidate(_attempt(payload), context=context)}

    def _commit(self, payload: dict[str, Any]) -> dict[str, Any]:
        context = commit.CommitContext(
            windows=self.windows,
            plans=self.plans,
            memories=self.memories,
            indexes=self.indexes,
            reviews=self.reviews,
            banks=self.banks,
            retention_policy=self.retention_policy,
            id_secret=self.id_secret,
            now=self.clock(),
        )
        return {"outcome": commit.commit(_attempt(payload), context=context)}

    def _fail(self, payload: dict[str, Any]) -> dict[str, Any]:
        context = fail.FailContext(self.windows, self.clock(), self.random.random)
        failure = fail.fail(_attempt(payload), payload["outcome"], context=context)
        return {"outcome": "parked" if failure.is_parked else "failed"}


def _attempt(payload: dict[str, Any]) -> Attempt:
    return Attempt(payload["bank"], payload["sid"], payload["win"], payload["att"])
