"""Exports and imports: what comes out goes in again, whoever dies meanwhile, and nothing that is newer is lost."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streambank.errors import InvalidArgument, Unavailable
from streambank.model.chat import ANYTHING, ChatDraft
from streambank.model.erasure import ErasureTarget
from streambank.model.ids import scope_id, stream_key
from streambank.model.memory import Evidence, Memory
from streambank.model.review import Review, ReviewAction, ReviewCause, ReviewedMemory, ReviewState
from streambank.model.session import SessionEvent, SessionFields
from streambank.model.transfer import Direction, Transfer, TransferId, TransferSpec
from streambank.model.validity import Validity
from streambank.model.window import WindowState
from streambank.pipeline.banks import BankChange, create_bank
from streambank.pipeline.jobs import erase, export, import_job
from streambank.pipeline.memories.deletion import delete_memory
from streambank.pipeline.memories.edit import EditContext, create_memory, update_memory
from streambank.pipeline.sessions import chat_history, sessions
from streambank.rules import reviews
from streambank.rules.edits import Edit
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.store.review_items import review_put
from streambank.store.sessions import Sessions
from streambank.store.transfers import Transfers
from tests import aws
from tests.aws import Killed
from tests.pipeline.test_pipeline_faults import Killer, _clear
from tests.pipeline.test_pipeline_interleavings import Interruption
from tests.world import SCOPE, World, event

pytestmark = pytest.mark.slow  # minutes; the journeys of export and import are in the fast suite

ELSEWHERE = {"user_id": "u2", "app": "a"}
OTHER = "other"


@pytest.fixture
def client():
    with aws.dynamodb() as client:
        yield client


def made(client: Any, s3: Any = None) -> World:
    """An empty table with a bank to import into beside the default one, and an empty bucket."""
    _clear(client)
    world = World(client, s3=s3 or aws.bucket())
    for key in aws.objects(world.s3):
        world.s3.delete_object(Bucket=aws.BUCKET, Key=key)
    create_bank(OTHER, BankChange(), banks=world.banks, now=world.clock())
    return world


def lived(client: Any, s3: Any = None) -> World:
    """A bank with all that can be in one, at rest."""
    world = made(client, s3)
    for number, scope in enumerate((SCOPE, ELSEWHERE)):
        world.ingest(event(f"a{number}", "1"), event("b", "2", eventTime="2026-02-28T01:00:00+02:00"), scope=scope)
        world.settle()
        world.clock.move(seconds=5)
        world.ingest(event("c"), event("d", "4"), scope=scope, streamId="s", rule={"eventCount": 2}, key="once")
        world.settle()
    edited(world)
    proposed(world)
    talked(world)
    world.finish()
    return world


def edited(world: World, bank: str = "default") -> None:
    """A memory that was changed, with all that may hang on one, and one that was deleted."""
    edit = stated("stated", metadata={"k": "v", "n": 1.5, "t": world.clock()}, topics=("T",), pinned=True)
    for memory_id in ("m-1", "m-1a", "gone"):
        create_memory(bank, memory_id, SCOPE, edit, repeats=lambda _: False, context=editing(world))
    world.clock.move(seconds=5)
    update_memory(bank, "m-1", None, stated("changed"), context=editing(world))
    delete_memory(
        bank,
        "gone",
        memories=world.memories,
        retry_policy=world.retry_policy,
        id_secret=world.id_secret,
        now=world.clock(),
    )


def proposed(world: World, memory_id: str = "m-1", text: str = "proposed", **more: Any) -> Review:
    """Let another text of a memory wait for review."""
    memory, hashes = world.memories.find("default", memory_id, now=world.clock()), hashes_of(world, "default")
    fields: dict[str, Any] = {
        "memories": (ReviewedMemory(memory_id, hashes.of_text(memory.fact)),),
        "text": text,
        "fact": "said",
        "topics": ("T",),
        "reason": "why",
        "evidence": (Evidence(stream_key(SCOPE, ""), 1, (1, 2), (hashes.of_text("an event"), "")),),
        "validity": Validity(None, world.clock() + timedelta(days=9)),
        "is_correction": True,
        **more,
    }
    name, now = reviews.review_id(ReviewAction.UPDATE, text, "", [memory_id], hashes), world.clock()
    times = (now, now + timedelta(days=90), now - timedelta(hours=1))
    review = Review(name, SCOPE, ReviewAction.UPDATE, ReviewCause.PINNED, *times, **fields)
    world.table.write(review_put("default", review))
    return review


def hashes_of(world: World, bank: str) -> KeyedHashes:
    return KeyedHashes.of_scope(world.id_secret, bank, SCOPE)


def open_reviews(world: World, bank: str = OTHER) -> list[Review]:
    return [one for one in world.reviews.of_scope(bank, SCOPE, now=world.clock()) if one.state is ReviewState.OPEN]


def stated(fact: str, **more: Any) -> Edit:
    return Edit(frozenset({"fact"}), fact, **more)


def editing(world: World) -> EditContext:
    return world.editing()


def talked(world: World) -> None:
    """Sessions with events, and conversations in one piece and in many."""
    context = {"sessions": Sessions(world.table), "retry_policy": world.retry_policy, "now": world.clock()}
    for user in ("u1", "u3"):
        said = SessionFields(user, "a talk", {"k": None, "deep": [1, {"x": 2.5}]}, {"l": "v"})
        sessions.create("default", f"of-{user}", said, **context)
        for number in range(3):
            talk = SessionEvent("user", str(number), world.clock(), content={"parts": [{"text": "hi"}], "role": "user"})
            sessions.append("default", f"of-{user}", talk, **context)
    for name in ("c 1", "c#2"):
        history = ChatDraft(({"text": name, "of": [None]},), "f").at(world.clock(), conversation_id=name, version=name)
        chat_history.store(
            "default", history, ANYTHING, histories=world.histories, retry_policy=world.retry_policy, now=world.clock()
        )


def exported(world: World, bank: str = "default", wanted: TransferSpec | None = None, **more: Any) -> Transfer:
    done = export.export_bank(bank, wanted or TransferSpec(), context=world.exporting(**more))
    assert done.ended, done
    assert done.failure is None
    return done


def manifest_of(transfer: Transfer) -> str:
    return f"{transfer.prefix}manifest.json"


def imported(world: World, source: str, bank: str = OTHER) -> Transfer:
    done = import_job.import_bank(bank, source, context=world.importing())
    assert done.ended
    assert done.failure is None, done.failure
    return done


def lines(world: World, transfer: Transfer) -> list[str]:
    """Return the lines of an export, part by part, as its manifest lists them."""
    found = aws.objects(world.s3)
    parts = json.loads(found[manifest_of(transfer)])["parts"]
    return [line for part in parts for line in found[transfer.prefix + part].decode().split("\n")[:-1]]


def kinds(world: World, transfer: Transfer) -> list[str]:
    return [json.loads(line)["kind"] for line in lines(world, transfer)]


def content(client: Any, bank: str) -> dict[tuple[str, str], Any]:
    """Return the items of a bank without jobs, and without what says when something was sealed away."""
    of_bank = (item for item in aws.dump(client) if f"#{bank}#" in item["PK"]["S"] + "#")
    return {(item["PK"]["S"], item["SK"]["S"]): item for item in of_bank if item["SK"]["S"] not in ("EXPORT", "IMPORT")}


# ---- there and back


def test_what_is_exported_comes_back(client):
    """Memories, revisions, sessions, chats and raw events of a bank, imported into an empty one, export the same."""
    world = lived(client)
    first = exported(world)
    assert first.counts == {
        "memories": 10,
        "revisions": 11,
        "reviews": 1,
        "sessions": 2,
        "sessionEvents": 6,
        "conversations": 2,
        "streams": 4,
        "windows": 4,
        "events": 8,
        "eventMarkers": 10,  # of the events, and of the two calls with an idempotency key
    }
    done = imported(world, manifest_of(first))
    assert done.counts == first.counts
    assert lines(world, exported(world, OTHER)) == lines(world, first)
    for scope in (SCOPE, ELSEWHERE):
        assert world.facts(scope, OTHER) == world.facts(scope)
        ours = {one.id: one for one in world.memories.of_scope("default", scope, now=world.clock())}
        theirs = {one.id: one for one in world.memories.of_scope(OTHER, scope, now=world.clock())}
        # Vectors too, made anew; hashes of events and of texts are the exporting bank's, and do not go along.
        assert theirs == {name: without_hashes(one) for name, one in ours.items()}
    assert len(world.memories.revisions(OTHER, theirs_of(world, "m-1"), now=world.clock())) == 2
    assert "gone" not in "".join(lines(world, first))
    [waits] = open_reviews(world, "default")
    [theirs_too] = open_reviews(world)
    assert theirs_too.id == reviews.review_id(waits.action, waits.text, "", ["m-1"], hashes_of(world, OTHER))
    [evidence] = waits.evidence
    assert theirs_too == replace(
        waits,
        id=theirs_too.id,
        memories=(ReviewedMemory("m-1", hashes_of(world, OTHER).of_text("changed")),),
        evidence=(replace(evidence, hashes=()),),
        is_imported=True,
    )


def without_hashes(memory: Memory) -> Memory:
    evidence = tuple(replace(one, hashes=()) for one in memory.evidence)
    return replace(memory, evidence=evidence, former=())


def theirs_of(world: World, memory_id: str) -> Any:
    return world.memories.find(OTHER, memory_id, now=world.clock())


def test_an_import_twice_is_an_import_once(client):
    """The second import of an export writes nothing but its own job."""
    world = lived(client)
    source = manifest_of(exported(world))
    imported(world, source)
    before = content(client, OTHER)
    world.clock.move(minutes=5)
    done = imported(world, source)
    assert content(client, OTHER) == before
    assert (done.counts["memoriesKept"], done.counts["reviewsKept"]) == (10, 1)
    assert done.number == 2


def test_replays_of_imported_events_are_duplicates_and_generate_nothing(client):
    """A client that sends its history again after the move is told that it is known; what is new is remembered."""
    world = lived(client)
    imported(world, manifest_of(exported(world)))
    shown = len(world.extractor.requests)
    receipt = world.ingest(event("a0", "1"), event("new", "9"), bank=OTHER)
    assert (receipt.accepted, receipt.duplicates, receipt.conflicts) == (1, 1, ())
    again = world.ingest(event("c"), event("d", "4"), bank=OTHER, streamId="s", rule={"eventCount": 2}, key="once")
    assert (again.accepted, again.duplicates) == (0, 2)
    assert world.operation(again.operation.id, OTHER).state == "DONE"
    world.finish()
    assert len(world.extractor.requests) == shown + 1
    assert "new" in world.facts(SCOPE, OTHER)
    assert world.facts(SCOPE, OTHER).count("a0") == 1


def test_the_same_import_brings_no_events_back_to_an_erased_stream(client):
    """A stream that was imported and then erased stays so: a repeated import restores memories, and no raw event."""
    world = lived(client)
    made = manifest_of(exported(world))
    imported(world, made)
    erase.erase_scope(OTHER, SCOPE, ErasureTarget(), context=world.erasing())
    world.finish()
    world.clock.move(minutes=1)  # an import that is older than an erasure would bring nothing at all
    again = imported(world, made)
    assert world.facts(SCOPE, OTHER) == world.facts(SCOPE)
    stream = stream_key(SCOPE, "s")
    items = [item["SK"]["S"] for item in aws.dump(world.client) if item["PK"]["S"] == f"S#{OTHER}#{stream}"]
    assert not [key for key in items if key.startswith("B#")]
    assert again.counts["streamsKept"] == 4


def test_a_scope_goes_alone_with_its_users_sessions(client):
    """Of a scope go its memories and streams, the sessions of the user, the named conversations, and nothing else."""
    world = lived(client)
    done = exported(world, wanted=TransferSpec(SCOPE, "u1", ("c#2", "unknown")))
    text = "\n".join(lines(world, done))
    assert done.counts["sessions"] == done.counts["conversations"] == 1
    assert done.counts["streams"] == 2
    assert '"u2"' not in text
    assert "of-u3" not in text
    assert '"c 1"' not in text


def test_what_waits_is_exported_and_not_generated_where_it_is_imported(client):
    """An open window, and one that failed for good, are told of; an import takes their events as generated."""
    world = made(client)
    world.ingest(event("open", "1"), rule={"eventCount": 9})
    receipt = world.ingest(event("sealed", "1"), streamId="s", forceFlush=True)
    source = manifest_of(exported(world))
    imported(world, source)
    sid = receipt.operation.id.sid
    assert world.windows.get(OTHER, sid, 1).state is WindowState.DONE
    assert world.windows.get(OTHER, stream_key(SCOPE, ""), 1).count == 1
    world.clock.move(days=2)
    world.finish()
    assert world.facts(SCOPE, OTHER) == []
    assert sorted(world.facts()) == ["open", "sealed"]
    again = world.ingest(event("open", "1"), event("more", "2"), bank=OTHER, rule={"eventCount": 9})
    assert (again.accepted, again.duplicates) == (1, 1)


def test_parts_are_small_and_in_order(client):
    """An export with small parts is the same as one in a single part."""
    world = lived(client)
    whole = lines(world, exported(world))
    many = exported(world, part_bytes=700)
    assert len(many.parts) > 5
    assert lines(world, many) == whole
    imported(world, manifest_of(many))
    assert lines(world, exported(world, OTHER)) == whole


def test_a_memory_with_more_revisions_than_a_transaction_takes(client):
    """Revisions are written before the memory that they are of, in as many transactions as it takes."""
    world = made(client)
    edited(world)
    for number in range(120):
        world.clock.move(seconds=1)
        update_memory("default", "m-1", None, stated(f"f{number}"), context=editing(world))
    first = exported(world)
    imported(world, manifest_of(first))
    assert lines(world, exported(world, OTHER)) == lines(world, first)
    assert len(world.memories.revisions(OTHER, theirs_of(world, "m-1"), now=world.clock())) == 122


# ---- what is there already


def test_nothing_newer_is_overwritten(client):
    """A memory that was changed or deleted after the export stays so; an older one gives way, with its revisions."""
    world = made(client)
    edited(world)
    early = exported(world)
    imported(world, manifest_of(early))
    world.clock.move(seconds=5)
    update_memory(OTHER, "m-1", None, stated("later"), context=editing(world))
    delete_memory(
        OTHER,
        "m-1a",
        memories=world.memories,
        retry_policy=world.retry_policy,
        id_secret=world.id_secret,
        now=world.clock(),
    )
    done = imported(world, manifest_of(early))
    assert done.counts["memoriesKept"] == 2
    assert world.facts(SCOPE, OTHER) == ["later"]
    world.clock.move(seconds=5)
    update_memory("default", "m-1", None, stated("latest"), context=editing(world))
    imported(world, manifest_of(exported(world)))
    assert world.facts(SCOPE, OTHER) == ["latest"]


def test_an_id_that_is_another_scopes_is_left_alone(client):
    """An id belongs to one scope: what comes under it from elsewhere is stored under a new one."""
    world = made(client)
    edited(world)
    edit = stated("theirs")
    create_memory(OTHER, "m-1", ELSEWHERE, edit, repeats=lambda _: False, context=editing(world))
    done = imported(world, manifest_of(exported(world)))
    assert (done.counts["memories"], done.counts["memoriesRenamed"]) == (1, 1)
    assert world.facts(ELSEWHERE, OTHER) == ["theirs"]
    assert world.facts(SCOPE, OTHER) == world.facts(SCOPE)


def test_streams_sessions_and_chats_that_are_there_go_on(client):
    """A stream's numbers are taken, a session's state is its own, and a newer conversation is newer."""
    world = lived(client)
    source = manifest_of(exported(world))
    context = {"sessions": Sessions(world.table), "retry_policy": world.retry_policy, "now": world.clock()}
    sessions.create(OTHER, "of-u1", SessionFields("somebody"), **context)
    history = ChatDraft(({"text": "newer"},)).at(world.clock(), conversation_id="c 1", version="v")
    chat_history.store(
        OTHER, history, ANYTHING, histories=world.histories, retry_policy=world.retry_policy, now=world.clock()
    )
    world.ingest(event("own", "1"), bank=OTHER)
    world.finish()
    done = imported(world, source)
    assert done.counts["streamsKept"] == 1
    assert done.counts["eventsKept"] == 2
    assert done.counts["conversationsKept"] == 1
    assert sum(done.counts.get(f"sessionEvents{fate}", 0) for fate in ("Renamed", "Kept", "")) == 6
    assert Sessions(world.table).find(OTHER, "of-u1").user_id == "somebody"
    assert world.histories.find(OTHER, "c 1").version == "v"
    assert world.ingest(event("next", "2"), bank=OTHER).accepted == 1


# ---- erasing


def test_an_erasure_beats_an_import(client):
    """What is erased while an import runs is not brought back by it; what is imported afterwards is."""
    world = lived(client)
    source = manifest_of(exported(world))
    budget = iter([True] * 3)
    begun = import_job.import_bank(OTHER, source, context=world.importing(lambda: next(budget, False)))
    assert begun.ended is None
    world.clock.move(seconds=1)
    for scope in (SCOPE, ELSEWHERE):
        erase.erase_scope(OTHER, scope, ErasureTarget(), context=world.erasing())
    world.clock.move(minutes=2)
    world.finish()
    done = Transfers(world.table).find(OTHER, Direction.IMPORT)
    assert done.ended
    assert world.facts(SCOPE, OTHER) == world.facts(ELSEWHERE, OTHER) == []
    assert not [key for key in content(client, OTHER) if key[1].startswith("B#")]
    imported(world, source)
    assert world.facts(SCOPE, OTHER) == world.facts(SCOPE)


def test_an_import_waits_for_an_erasure_that_is_older(client):
    """A scope that is being erased takes nothing in; the import goes on when the erasure is done."""
    world = lived(client)
    source = manifest_of(exported(world))
    world.ingest(event("x", "x"), bank=OTHER, streamId="x")
    world.ingest(event("y", "y"), bank=OTHER, streamId="y")
    world.finish()
    erase.erase_scope(OTHER, SCOPE, ErasureTarget(), context=world.erasing(lambda: False))
    world.clock.move(seconds=1)
    with pytest.raises(Unavailable):
        import_job.import_bank(OTHER, source, context=world.importing())
    for _ in range(5):
        world.clock.move(minutes=2)
        world.sweep()
    assert Transfers(world.table).find(OTHER, Direction.IMPORT).failure is None
    assert world.facts(SCOPE, OTHER) == world.facts(SCOPE)


def test_a_bank_that_is_erased_ends_its_import(client):
    """From the first moment of an erasure of the bank nothing more of an import is stored, sessions neither."""
    world = lived(client)
    source = manifest_of(exported(world))
    calls = erased_at(world, source, -1)
    for at in aws.spread(range(1, calls), 4):
        world = lived(client, world.s3)
        source = manifest_of(exported(world))
        erased_at(world, source, at)
        done = Transfers(world.table).find(OTHER, Direction.IMPORT)
        if done:  # else it was refused before it was entered
            assert done.ended
        world.finish()
        assert world.facts(SCOPE, OTHER) == []
        left = {key for key in content(client, OTHER) if key[0][0] in "XH" or key[1][:2] in ("B#", "M#", "R#")}
        assert not left


def erased_at(world: World, source: str, at: int) -> int:
    """Erase the bank before call *at* of an import into it; return how many calls the import made."""
    erasing = lambda world: erase.erase_bank(OTHER, context=world.erasing())
    interruption = Interruption(world, erasing, at)
    world.client.meta.events.register("before-call.dynamodb", interruption)
    try:
        import_job.import_bank(OTHER, source, context=world.importing())
    except Unavailable:
        pass
    finally:
        world.client.meta.events.unregister("before-call.dynamodb", interruption)
    return interruption.calls


# ---- stopping and dying


def test_a_job_goes_on_where_it_stopped(client):
    """Without time for more than a step both jobs come to their ends, one sweep after the other."""
    world = lived(client)
    whole = lines(world, exported(world))
    begun = export.export_bank("default", TransferSpec(), context=world.exporting(lambda: False))
    assert begun.ended is None
    with pytest.raises(Unavailable):
        export.export_bank("default", TransferSpec(SCOPE), context=world.exporting())
    for _ in range(200):
        found = Transfers(world.table).find("default", Direction.EXPORT)
        if found.ended:
            break
        export.proceed(found, context=world.exporting(lambda: False))
    assert len(found.parts) > 20
    assert lines(world, found) == whole
    import_job.import_bank(OTHER, manifest_of(found), context=world.importing(lambda: False))
    for _ in range(200):
        job = Transfers(world.table).find(OTHER, Direction.IMPORT)
        if job.ended:
            break
        import_job.proceed(job, context=world.importing(lambda: False))
    assert job.failure is None
    assert job.counts == found.counts
    assert lines(world, exported(world, OTHER)) == whole


def armed(world: World, killer: Killer) -> Any:
    """Let *killer* see every call to DynamoDB and S3 until the returned function is called."""
    before = lambda model, **_: killer.before(model.name)
    after = lambda model, **_: killer.done(model.name)
    seen = [(world.client, "dynamodb"), (world.s3, "s3")]
    for client, name in seen:
        client.meta.events.register(f"before-call.{name}", before)
        client.meta.events.register(f"after-call.{name}", after)

    def disarm() -> None:
        for client, name in seen:
            client.meta.events.unregister(f"before-call.{name}", before)
            client.meta.events.unregister(f"after-call.{name}", after)

    return disarm


def small(client: Any, s3: Any) -> World:
    """A little of everything: each call of a job is killed once."""
    world = made(client, s3)
    world.ingest(event("a", "1"), event("b", "2"))
    world.settle()
    edited(world)
    proposed(world)
    talked(world)
    world.finish()
    return world


def kill(client: Any, s3: Any, at: int, *, after: bool, is_import: bool) -> bool:
    """Kill a job at one call and let the sweep alone go on; tell whether it was over before."""
    world = small(client, s3)
    whole = exported(world)
    killer = Killer(at, after)
    disarm = armed(world, killer)
    try:
        if is_import:
            import_job.import_bank(OTHER, manifest_of(whole), context=world.importing())
        else:
            export.export_bank("default", TransferSpec(), context=world.exporting(part_bytes=2_000))
    except Killed:
        pass
    finally:
        disarm()
    is_over = killer.at is not None
    world.clock.move(seconds=90)
    world.finish()
    direction, bank = (Direction.IMPORT, OTHER) if is_import else (Direction.EXPORT, "default")
    job = Transfers(world.table).find(bank, direction)
    if is_import:
        job = job or imported(world, manifest_of(whole))  # it died before it was entered: nobody was told of it
    assert job.ended
    assert job.failure is None
    told = exported(world, OTHER) if is_import else job
    assert lines(world, told) == lines(world, whole)
    return is_over


@pytest.mark.parametrize("is_import", [False, True])
@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_some_calls_loses_and_doubles_nothing(client, after, is_import):
    """Killed on the way, a job is finished by the sweep, and comes to what it would have come to."""
    s3 = aws.bucket()
    for at in itertools.count(0, 11):
        if kill(client, s3, at, after=after, is_import=is_import):
            assert at > 11
            return


@pytest.mark.slow
@pytest.mark.parametrize("is_import", [False, True])
@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_any_call_loses_and_doubles_nothing(client, after, is_import):
    """The same at every call."""
    s3 = aws.bucket()
    for at in itertools.count():
        if kill(client, s3, at, after=after, is_import=is_import):
            assert at > 20
            return


def test_a_run_that_was_thought_dead_harms_nothing(client):
    """A run that writes its part after another took the job up books nothing, and its part is nobody's."""
    world = lived(client)
    whole = lines(world, exported(world))
    export.export_bank("default", TransferSpec(), context=world.exporting(lambda: False))
    found = Transfers(world.table).find("default", Direction.EXPORT)
    slow = Transfers(world.table).claim(found, now=world.clock())
    done = export.proceed(slow, context=world.exporting())
    world.objects.put(slow.prefix + slow.next_part, b'{"kind": "late"}\n')
    with pytest.raises(Unavailable):
        Transfers(world.table).record_progress(slow, (0, "", ""), {}, has_part=True, now=world.clock())
    assert lines(world, done) == whole


def test_jobs_of_a_bank_that_is_gone_end(client):
    """A job whose bank was deleted is not due for ever."""
    world = lived(client)
    export.export_bank("default", TransferSpec(), context=world.exporting(lambda: False))
    world.client.delete_item(TableName=aws.TABLE, Key={"PK": {"S": "BANKS"}, "SK": {"S": OTHER}})
    source = manifest_of(exported(world))
    restored = Transfers(world.table).begin(OTHER, Direction.IMPORT, TransferSpec(source=source), now=world.clock())
    done = import_job.proceed(restored, context=world.importing())
    assert done.failure == "the bank is gone"
    assert world.facts(SCOPE, OTHER) == []


# ---- what cannot be read


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"nothing", "not valid JSON"),
        (b'{"kind": "memory", "version": 2}', "version: must be 1"),
        (b'{"kind": "spell", "version": 1}', "kind: must be one of"),
        (b'{"kind": "chatHistory", "version": 1, "conversationId": "c"}', "messages"),
        (b'{"kind": "eventMarker", "version": 1, "scope": {"a": "b"}, "streamId": "s", "key": "HEAD"}', "key"),
        (b'{"kind": "session", "version": 1, "sessionId": "a#b"}', "sessionId"),
        (b'{"kind": "chatHistory", "version": 1, "format": "\\ud800"}', "surrogate"),
        (b"[" * 100_000, "not valid JSON"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_what_cannot_be_read_ends_an_import_and_says_where(client, line, problem):
    """A line that breaks a rule is named by its part, number and field; what came before it stays."""
    world = lived(client)
    done = exported(world)
    first = done.prefix + done.parts[0]
    text = aws.objects(world.s3)[first].splitlines()
    world.objects.put(first, b"\n".join([text[0], line, *text[1:]]))
    failed = import_job.import_bank(OTHER, manifest_of(done), context=world.importing())
    assert failed.ended
    assert failed.failure.startswith(f"source: {done.parts[0]} line 2: ")
    assert problem in failed.failure
    assert world.sweep().faults == []


def test_no_export_is_no_import(client):
    """Without a manifest, with one of another format, or without its parts nothing is imported."""
    world = lived(client)
    done = exported(world)
    with pytest.raises(InvalidArgument):
        import_job.import_bank(OTHER, f"{done.prefix}x", context=world.importing())
    world.objects.put("default/export-9/manifest.json", b'{"format": "other"}')
    with pytest.raises(InvalidArgument):
        import_job.import_bank(OTHER, "default/export-9/manifest.json", context=world.importing())
    assert Transfers(world.table).find(OTHER, Direction.IMPORT) is None
    world.s3.delete_object(Bucket=aws.BUCKET, Key=done.prefix + done.parts[0])
    failed = import_job.import_bank(OTHER, manifest_of(done), context=world.importing())
    assert "does not exist any more" in failed.failure


def test_ids_of_jobs():
    """A job's operation is named so that it is found again, and told from any other."""
    assert TransferId.parse("export-3") == (Direction.EXPORT, 3)
    assert TransferId.parse("import-12") == (Direction.IMPORT, 12)
    for text in ("export", "export-0", "erase-1", f"{scope_id(SCOPE)}-1"):
        assert TransferId.parse(text) is None


# ---- whatever was said


texts = st.text(st.characters(codec="utf-8", exclude_characters="*"), min_size=1, max_size=20)
scopes = st.dictionaries(texts, texts, min_size=1, max_size=2)
said = st.tuples(scopes, st.sampled_from(["", "s"]), st.lists(texts, min_size=1, max_size=3))
facts = st.tuples(scopes, texts, st.dictionaries(texts, texts | st.floats(-1e9, 1e9) | st.booleans(), max_size=2))
chats = st.tuples(texts, st.lists(st.dictionaries(texts, st.none() | texts | st.integers()), max_size=3))


@settings(max_examples=12)
@given(calls=st.lists(said, max_size=3), told=st.lists(facts, max_size=3), talks=st.lists(chats, max_size=2))
def test_round_trip(calls, told, talks):
    """Export, import into an empty bank, export: the same lines, whatever was said, stated and chatted."""
    with aws.dynamodb() as client:
        world = made(client)
        for scope, name, words in calls:
            world.ingest(*(event(one, one) for one in words), scope=scope, streamId=name)
        for number, (scope, fact, metadata) in enumerate(told):
            edit = stated(fact, metadata=metadata)
            create_memory("default", f"m{number}", scope, edit, repeats=lambda _: False, context=editing(world))
        for name, messages in talks:
            history = ChatDraft(tuple(messages)).at(world.clock(), conversation_id=name, version="v")
            chat_history.store(
                "default",
                history,
                ANYTHING,
                histories=world.histories,
                retry_policy=world.retry_policy,
                now=world.clock(),
            )
        world.finish()
        first = exported(world, part_bytes=1_000)
        imported(world, manifest_of(first))
        again = exported(world, OTHER, part_bytes=1_000)
        assert lines(world, again) == lines(world, first)
        assert again.counts == first.counts
