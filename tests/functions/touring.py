"""A tour of the service: all routes, timers, lost records, failures and repairs, once each."""

import json
import time
from contextlib import redirect_stdout
from io import StringIO

import boto3
import httpx

from streambank.model import ids
from streambank.model.erasure import ErasureTarget
from streambank.model.replay import ReplaySpec
from streambank.model.scope_index import IndexState
from streambank.model.transfer import Direction, TransferSpec
from streambank.pipeline.jobs import index_scope
from streambank.store.erasures import Erasures
from streambank.store.moves import Moves
from streambank.store.policy_jobs import PolicyJobs
from streambank.store.reindexes import Reindexes
from streambank.store.replays import Replays
from streambank.store.scope_indexes import ScopeIndexes
from streambank.store.transfers import Transfers
from streambank.wiring.deployment import Deployment
from streambank_local.command import stack_keys as keys
from streambank_local.service import LocalService
from tests.bedrock.converse_server import Bedrock, error
from tests.journeys.caller import DEFAULT_BANK, PARENT, VERSION, Caller, said

ROLES = ("ingest", "read", "edit", "admin")
REJECTED = error(400, "ValidationException")


def tour(service: LocalService, bedrock: Bedrock, key: str) -> None:
    """Call everything that can be called, and let everything happen that can."""
    with httpx.Client(base_url=service.base_url, headers={"authorization": f"Bearer {key}"}, timeout=60) as client:
        caller = Caller(service, client)
        for part in (streams, consents, searches, memories, large_scopes, sessions, chats, operations, timers):
            part(caller)
        failures(caller, bedrock)
        gaps(caller)
        deaths(caller, bedrock)
        banks(caller)
        transfers(caller)
        reindexes(caller)
        policies(caller)
        replays(caller)
        erasures(caller)
        moves(caller)


def made_key(service: LocalService) -> str:
    """Make a key for everything, as an operator does."""
    roles = [word for role in ROLES for word in ("--role", role)]
    with redirect_stdout(StringIO()) as shown:
        assert keys.main(["create", "--table", service.stack.table_name, "--all-banks", *roles]) == 0
    return shown.getvalue().strip()


def streams(caller: Caller) -> None:
    stream = caller.stream()
    for _ in range(2):
        stream.flush(said("I keep bees", "e1"), said("I live in Linz"))
    stream.flush(said("I keep hens"))
    stream.send(rule={"event_count": 3})
    whole = stream.body(said("I keep a cat"))
    caller.post(f"{DEFAULT_BANK}:ingestEvents", whole, headers={"x-idempotency-key": "once"})


def consents(caller: Caller) -> None:
    """Set a scope of a bank to learn nothing, and send events to it."""
    bank = caller.bank()
    stream = caller.stream(bank=bank)
    caller.call("PATCH", f"{bank}/consent", {"scope": stream.scope, "learning": "DISABLED"})
    caller.get(f"{bank}/consent", params={"scope": json.dumps(stream.scope)})
    stream.send(said("I keep bees"))


def searches(caller: Caller) -> None:
    scope = caller.streams[0].scope
    params = {"search_query": "bees"}
    for more in ({}, {"includeEvents": True, "includePending": True}):
        caller.retrieve(scope, similaritySearchParams=params | more)
    caller.retrieve(scope, simpleRetrievalParams={"pageSize": 1})
    caller.post(f"{DEFAULT_BANK}/memories:retrieveProfiles", {"scope": scope})


def memories(caller: Caller) -> None:
    scope = caller.scope()
    made = caller.post(f"{DEFAULT_BANK}/memories", {"fact": "I keep bees", "scope": scope})["response"]["name"]
    caller.call("PATCH", made, {"fact": "I keep hens"}, params={"updateMask": "fact"})
    [newest, oldest] = caller.revisions(caller.get(made))
    caller.get(newest["name"])
    caller.post(f"{made}:rollback", {"targetRevisionId": oldest["name"].rsplit("/", 1)[-1]})
    caller.get(f"{DEFAULT_BANK}/memories", params={"pageSize": "1"})
    caller.get(f"{DEFAULT_BANK}/changes", params={"pageSize": "1"})
    caller.delete(made)
    requests = [{"memory": {"scope": caller.scope(), "fact": "I keep cats"}}]
    [result] = caller.post(f"{DEFAULT_BANK}/memories:batchCreate", {"requests": requests})["results"]
    name = result["memory"]["name"]
    caller.post(f"{DEFAULT_BANK}/memories:batchUpdate", {"requests": [{"memory": {"name": name, "fact": "Cats"}}]})
    caller.post(f"{DEFAULT_BANK}/memories:batchDelete", {"names": [name]})
    for force in (False, True):
        caller.post(f"{DEFAULT_BANK}/memories:purge", {"filter": 'fact="I keep bees"', "force": force})
    caller.advance(hours=49)


def large_scopes(caller: Caller) -> None:
    """Build the vector index of a scope, change, search and replay the scope, and let the index go."""
    stream = caller.stream()
    name = stream.flush(said("I keep bees"))["name"]
    indexes = ScopeIndexes(Deployment.load().table)
    indexes.begin("default", stream.scope, now=caller.service.now())
    index = indexes.get("default", ids.scope_id(stream.scope))
    assert index  # the sweep would build it and then remove it, since the scope is small
    due = caller.service.now() + index_scope.CHECKED_EVERY
    indexes.record_walk(index, state=IndexState.READY, cursor="", due=due)
    made = caller.post(f"{DEFAULT_BANK}/memories", {"fact": "I keep hens", "scope": stream.scope})["response"]["name"]
    caller.settle()
    caller.retrieve(stream.scope, similaritySearchParams={"search_query": "hens"})
    stream.flush(said("I keep a cat"))
    caller.post(f"{name}:replay", {})
    caller.delete(made)
    caller.settle()
    caller.advance(hours=7)


def sessions(caller: Caller) -> None:
    for _ in range(2):
        session = caller.post(f"{DEFAULT_BANK}/sessions", {"userId": "u"})["response"]["name"]
    event = {"author": "user", "invocationId": "1", "timestamp": "2026-01-01T00:00:00Z"}
    caller.post(f"{session}:appendEvent", event | {"content": {"parts": [{"text": "I keep bees"}], "role": "user"}})
    caller.get(f"{session}/events")
    caller.call("PATCH", session, {"displayName": "a talk"}, params={"updateMask": "displayName"})
    caller.get(f"{DEFAULT_BANK}/sessions")
    source = {"session": session}
    caller.post(f"{DEFAULT_BANK}/memories:generate", {"vertexSessionSource": source, "scope": caller.scope()})
    caller.settle()
    caller.delete(session)


def chats(caller: Caller) -> None:
    """Store, append to, load and delete a chat, where there are chats."""
    path = f"{VERSION}/{DEFAULT_BANK}/chatHistory"
    body = {"messages": [{"role": "user", "content": "hi"}]}
    for method, end, content in (("PUT", "", body), ("POST", ":append", body), ("GET", "", None), ("DELETE", "", None)):
        caller.client.request(method, path + end, params={"conversationId": "c"}, json=content)


def chat(caller: Caller, bank: str) -> None:
    """Store a chat, which stays."""
    caller.call("PUT", f"{bank}/chatHistory", {"messages": [{"n": 1}]}, params={"conversationId": "c"})


def operations(caller: Caller) -> None:
    content = {"content": {"role": "user", "parts": [{"text": "I keep bees"}]}}
    body = {"directContentsSource": {"events": [content]}, "scope": caller.scope()}
    begun = caller.post(f"{DEFAULT_BANK}/memories:generate", body)["name"]
    caller.post(f"{begun}:wait", {"timeout": "1s"})
    caller.settle()
    caller.get(begun)
    caller.get(f"{DEFAULT_BANK}/operations")
    caller.call("GET", f"{DEFAULT_BANK}/usage")


def timers(caller: Caller) -> None:
    """Let the sweep seal and start alone, and arm a timer anew."""
    idle = caller.stream()
    idle.send(said("I keep bees"), rule={"idle_duration": "300s"})
    caller.pass_unseen(seconds=200)
    idle.send(said("I keep hens"))
    caller.advance(seconds=600)
    caller.service.poller_enabled = False
    caller.stream().send(said("I keep a cat"), force_flush=True)
    caller.service.poller_enabled = True
    caller.advance(minutes=5)


def failures(caller: Caller, bedrock: Bedrock) -> None:
    """Fail five times, be parked, be redriven; then run out of tokens."""
    stream, before = caller.stream(), bedrock.model
    bedrock.model = lambda _: REJECTED
    sent = stream.send(said("I keep bees"), force_flush=True)
    for _ in range(5):
        caller.advance(minutes=90)
    bedrock.model = before
    assert caller.get(sent["name"])["metadata"]["state"] == "PARKED"
    caller.post(f"{sent['name']}:redrive", {})
    caller.settle()
    poor = caller.bank(generation_config={"daily_token_budget": 0})
    caller.stream(bank=poor).send(said("I keep bees"), force_flush=True)
    caller.settle()
    rich = caller.stream(bank=caller.bank(generation_config={"daily_token_budget": 10**9}))
    for text in ("I live in Linz", "I live in Graz"):
        rich.flush(said(text))
    caller.delete(poor, params={"force": "true"})


def gaps(caller: Caller) -> None:
    """Lose the events of a window and send them again; then meet a batch ahead of its stream's head."""
    table = {"TableName": caller.service.stack.table_name}
    client, stream, events = (
        boto3.client("dynamodb", region_name="us-east-1"),
        caller.stream(),
        said("I keep bees", "e1"),
    )
    stream.send(events, rule={"event_count": 9})
    [batch] = [item for item in stream.items() if item["SK"]["S"].startswith("B#")]
    client.delete_item(**table, Key={"PK": batch["PK"], "SK": batch["SK"]})
    lost = stream.send(force_flush=True)
    caller.settle()
    assert caller.get(lost["name"])["metadata"]["failure"] == "EVENTS_MISSING"
    assert stream.send(events)["metadata"]["acceptedEvents"] == 1
    caller.post(f"{lost['name']}:redrive", {})
    caller.settle()
    client.put_item(**table, Item={**batch, "SK": {"S": f"B#{2:012}"}})
    assert stream.flush(said("I keep hens", "e2"))["metadata"]["state"] == "DONE"


def deaths(caller: Caller, bedrock: Bedrock) -> None:
    """End an execution from outside while its model is asked: the sweep finds that it has died."""
    bedrock.slow = [1.5]
    caller.stream().send(said("I keep bees"), force_flush=True)
    machines = boto3.client("stepfunctions", region_name="us-east-1")
    machine = caller.service.stack.machine_arn
    deadline = time.monotonic() + 10
    while bedrock.slow and time.monotonic() < deadline:
        time.sleep(0.05)
    [running] = machines.list_executions(stateMachineArn=machine, statusFilter="RUNNING")["executions"]
    machines.stop_execution(executionArn=running["executionArn"])
    caller.pass_unseen(minutes=3)
    caller.service.tick()
    caller.advance(minutes=5)


def banks(caller: Caller) -> None:
    bank = caller.bank()
    caller.stream(bank=bank).flush(said("I keep bees"))
    caller.post(f"{bank}/memories", {"fact": "I keep hens", "scope": caller.scope()})
    caller.post(f"{bank}/sessions", {"userId": "u"})
    chat(caller, bank)
    caller.call("PATCH", bank, {"displayName": "other"})
    caller.get(PARENT)
    caller.delete(bank, params={"force": "true"})
    caller.advance(minutes=5)


def erasures(caller: Caller) -> None:
    """Erase a scope and a bank, at once and by a job that nobody went on with."""
    bank, left = caller.bank(), caller.bank()
    for where in (bank, left):
        caller.stream(bank=where).flush(said("I keep bees", "e1"))
        caller.post(f"{where}/sessions", {"userId": "u"})
        caller.post(f"{where}/memories", {"fact": "I keep hens", "scope": {"user_id": "u"}})
    for more in ({"dryRun": True}, {}):
        caller.post(f"{bank}:eraseScope", {"scope": {"user_id": "u"}} | more)
        caller.post(f"{bank}:erase", {"force": True} | more)
    jobs, name = Erasures(Deployment.load().table), left.rsplit("/", 1)[-1]
    jobs.begin(name, {"user_id": "u"}, ErasureTarget(), now=caller.service.now())
    caller.advance(minutes=3)
    jobs.begin_bank(name, now=caller.service.now())
    caller.advance(minutes=3)
    assert not caller.get(f"{left}/memories").get("memories")


def moves(caller: Caller) -> None:
    """Move a scope by call, and by a job that nobody went on with: a deletion, events, memories and what is pending."""
    bank, user = caller.bank(), {"user_id": "u"}
    made = caller.post(f"{bank}/memories", {"fact": "I keep hens", "scope": user})["response"]
    caller.delete(made["name"])
    for number in range(2):
        caller.stream(bank=bank, scope=user).flush(said(f"I keep {number} bees", f"e{number}"))
    for more in ({"dryRun": True}, {}):
        caller.post(f"{bank}:moveScope", {"scope": user, "targetScope": {"user_id": "v"}} | more)
    jobs, name = Moves(Deployment.load().table), bank.rsplit("/", 1)[-1]
    begun = jobs.begin(name, {"user_id": "v"}, user, now=caller.service.now())
    caller.advance(minutes=3)
    assert caller.get(f"{bank}/operations/{begun.id}")["response"]["moved"]["streams"] == 1


def transfers(caller: Caller) -> None:
    """Export and import by call, and by jobs that nobody went on with."""
    bank, others = caller.bank(), [caller.bank(), caller.bank()]
    caller.stream(bank=bank).flush(said("I keep bees", "e1"))
    caller.post(f"{bank}/memories", {"fact": "I keep hens", "scope": caller.scope()})
    chat(caller, bank)
    source = caller.post(f"{bank}:export", {})["response"]["source"]
    caller.post(f"{others[0]}:import", {"source": source})
    for where, direction, wanted in (
        (bank, Direction.EXPORT, TransferSpec()),
        (others[1], Direction.IMPORT, TransferSpec(source=source)),
    ):
        jobs = Transfers(Deployment.load().table)
        jobs.begin(where.rsplit("/", 1)[-1], direction, wanted, now=caller.service.now())
    caller.advance(minutes=3)
    for where, job in ((bank, "export-2"), (others[1], "import-1")):
        assert caller.get(f"{where}/operations/{job}")["response"]


def policies(caller: Caller) -> None:
    """Apply a policy to what a bank holds, by call, and by a job that nobody went on with."""
    for verb in ("call", "sweep"):
        bank = caller.bank()
        caller.stream(bank=bank).flush(said("I keep hens", "e"))
        made = caller.post(f"{bank}/memories", {"fact": "I keep hens", "scope": caller.scope()})["response"]["name"]
        caller.call("PATCH", made, {"fact": "I keep many hens"})
        session = caller.post(f"{bank}/sessions", {"userId": "u", "displayName": "of hens"})["response"]["name"]
        event = {"author": "user", "invocationId": "1", "timestamp": "2026-01-01T00:00:00Z"}
        caller.post(f"{session}:appendEvent", event | {"content": {"parts": [{"text": "hens"}]}})
        caller.call("PUT", f"{bank}/chatHistory", {"messages": [{"n": "hens"}]}, params={"conversationId": "c"})
        rules = [{"name": "HENS", "pattern": "hens", "action": "REDACT"}]
        config = {"content_policy": {"rules": rules}}
        caller.call("PATCH", bank, {"context_spec": {"memory_bank_config": config}})
        if verb == "call":
            caller.post(f"{bank}:applyContentPolicy", {})
        else:
            PolicyJobs(Deployment.load().table).begin(bank.rsplit("/", 1)[-1], now=caller.service.now())
        caller.advance(minutes=17)
        assert caller.get(f"{bank}/operations/policy-1")["response"]["changed"] > 4


def replays(caller: Caller) -> None:
    """Replay a window, a bank and a scope, with another configuration, and by a job that nobody started."""
    bank = caller.bank()
    stream = caller.stream(bank=bank)
    name = stream.flush(said("I keep bees", "e1"))["name"]
    custom = {"promptCustomization": {"disableNaturalLanguageMemories": True}}
    for path, body in (
        (f"{name}:replay", custom),
        (f"{bank}:replay", {"windows": 5} | custom),
        (f"{bank}:replay", {"windows": 5, "scope": stream.scope}),
    ):
        begun = caller.post(path, body)["name"]
        caller.service.wait_until_idle()
        assert caller.get(begun)["done"]
    table, bank_id = Deployment.load().table, bank.rsplit("/", 1)[-1]
    jobs = Replays(table)
    begun_job = jobs.begin(bank_id, None, ReplaySpec(windows=1), now=caller.service.now())
    caller.advance(minutes=3)
    assert jobs.find(bank_id, None, now=caller.service.now()).ended > begun_job.started


def reindexes(caller: Caller) -> None:
    """Reindex a bank whose embedding model was changed, by call, and by a job that nobody went on with."""
    for verb in ("call", "sweep"):
        bank = caller.bank()
        caller.post(f"{bank}/memories", {"fact": "I keep hens", "scope": caller.scope()})
        config = {"similarity_search_config": {"embedding_model": "cohere.embed-v4:0"}}
        caller.call("PATCH", bank, {"context_spec": {"memory_bank_config": config}})
        if verb == "call":
            caller.post(f"{bank}:reindex", {})
        else:
            Reindexes(Deployment.load().table).begin(bank.rsplit("/", 1)[-1], now=caller.service.now())
            caller.advance(minutes=3)
        assert caller.get(f"{bank}/operations/reindex-1")["response"]["reindexed"] == 1
