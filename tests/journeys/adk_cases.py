"""What ADK gives a memory service: `python adk_cases.py URL PREFIX`, for the interpreter that has google-adk.

Each case is a user of its own. The program prints what each case returns, and all records of the log, as JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import agentplatform
import httpx
from google.adk.events import Event, EventActions
from google.adk.memory import VertexAiMemoryBankService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import Session
from google.genai import types
from google.oauth2.credentials import Credentials

from streambank_client import GenerationRule, Hooks
from streambank_client.adk import StreambankMemoryService
from streambank_client.errors import AlreadyExists, InvalidArgument, StreambankError

APP = "app"
MARCH_4 = datetime(2026, 3, 4, tzinfo=UTC)
URL, PREFIX = sys.argv[1:]
Case = Callable[[str], Awaitable[Any]]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


def ours(url: str = URL, **settings: Any) -> StreambankMemoryService:
    return StreambankMemoryService(url, token="local", **settings)


def googles(url: str = URL) -> VertexAiMemoryBankService:
    class Redirected(VertexAiMemoryBankService):
        """ADK's own service at the base URL."""

        def _build_api_client(self) -> Any:
            credentials, options = Credentials(token="local"), {"base_url": url}
            return agentplatform.Client(project="p", location="l", credentials=credentials, http_options=options).aio

    return Redirected(project="p", location="l", agent_engine_id="default")


def turn(text: str, author: str = "user", invocation: str = "1", **fields: Any) -> Event:
    content = types.Content(role="user" if author == "user" else "model", parts=[types.Part(text=text)])
    return Event(author=author, invocation_id=invocation, content=content, **fields)


def tool_response(response: dict[str, Any]) -> Event:
    part = types.Part(function_response=types.FunctionResponse(name="tool", response=response))
    return Event(author="user", invocation_id="1", content=types.Content(role="user", parts=[part]))


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {"leaf": 1}
    for _ in range(levels):
        value = {"inner": value}
    return value


def entry(text: str, **fields: Any) -> MemoryEntry:
    return MemoryEntry(content=types.Content(parts=[types.Part(text=text)]), **fields)


async def add(user: str, events: list[Event], session: str = "session", **settings: Any) -> None:
    """Add a session and then make memories of it."""
    memory = ours(**settings)
    await memory.add_session_to_memory(Session(id=session, app_name=APP, user_id=user, events=events, state={}))


@case
async def bad_events(user: str) -> None:
    """Add a session with events that no service accepts between good ones, twice."""
    circular: dict[str, Any] = {}
    circular["self"] = circular
    bad = [
        turn("I like \ud83d tea."),
        tool_response({"text": "private \ud83d"}),
        tool_response(nested(35)),
        tool_response(nested(300)),
        tool_response(circular),
        tool_response({"object": object()}),
        tool_response({"number": float("nan")}),
        turn("I play chess.", timestamp=MARCH_4.timestamp() * 1_000),
        turn("Chess is a fine game.", author="agent", timestamp=MARCH_4.timestamp() * 1_000),
        turn("I have a cat.", timestamp=float("inf")),
        turn("I collect stamps.", id="x" * 600),
    ]
    events = [turn("I live in Graz."), *bad, turn("I own a red kite.")]
    for _ in range(2):
        await add(user, events)


@case
async def refused_event(user: str) -> int:
    """Add events of which the service refuses one, and return the number of calls."""
    calls = []

    def corrupt(request: httpx.Request) -> httpx.Request:
        calls.append(request.url.path)
        old = b'"role":"model","parts":[{"text":"Noted 5'
        body = request.content.replace(old, old.replace(b"model", b"xodel"))
        return httpx.Request(request.method, request.url, headers=request.headers, content=body)

    events = [turn(f"Noted {number}", author="agent") for number in range(8)]
    await add(user, [*events, turn("I live in Graz.")], hooks=Hooks(on_request=[corrupt]))
    return len(calls)


@case
async def refused_call(user: str) -> str:
    """Return why a call is refused that no event is to blame for."""
    rule = {"generation_trigger_config": {"generation_rule": {"event_count": 0}}}
    events = [turn("I live in Graz."), turn("Hello")]
    try:
        await ours().add_events_to_memory(app_name=APP, user_id=user, events=events, custom_metadata=rule)
    except InvalidArgument as error:
        return error.field
    return ""


@case
async def wrong_arguments(user: str) -> dict[str, list[str]]:
    """Return what the constructor says about arguments that can never work, and what each method says."""
    nowhere = "http://127.0.0.1:9"
    settings: list[dict[str, Any]] = [
        {"bank": "a/b"},
        {"bank": "x" * 37},
        {"generation_rule": {"idle": 1}},
        {"generation_rule": {"idle_duration": "90s"}},
        {"generation_rule": GenerationRule(event_count=0)},
    ]
    ours(nowhere, bank="my-bank", generation_rule={"eventCount": 5})
    memory, facts, turns = ours(nowhere), [entry("Likes tea.")], [turn("I live in Graz.")]
    methods: list[Callable[..., Awaitable[Any]]] = [
        lambda **owner: memory.add_session_to_memory(Session(id="s", events=turns, state={}, **owner)),
        lambda **owner: memory.add_events_to_memory(events=turns, **owner),
        lambda **owner: memory.add_memory(memories=facts, **owner),
        lambda **owner: memory.search_memory(query="tea", **owner),
        memory.retrieve_profiles,
        lambda **owner: memory.delete_memory(memory_id="fact", **owner),
    ]
    owners = [("", user), (APP, "*"), (APP, "x" * 257)]
    said: dict[str, list[str]] = {"constructor": [], "calls": []}
    for each in settings:
        try:
            ours(nowhere, **each)
        except ValueError as error:
            said["constructor"].append(str(error))
    for method, (app_name, user_id) in itertools.product(methods, owners):
        try:
            await method(app_name=app_name, user_id=user_id)
        except ValueError as error:
            said["calls"].append(str(error))
    return said


@case
async def edited(user: str) -> None:
    """Add a session, edit one of its events, and add it again, twice."""
    first = [turn("I live in Graz.", id="1"), turn("I like tea.", id="2")]
    for events in (first, [first[0], turn("I like coffee.", id="2")], [first[0], turn("I like coffee.", id="2")]):
        await add(user, events)


@case
async def pending(user: str) -> dict[str, Any]:
    """Return what searches find of a memory and of messages that wait for a generation."""
    found: dict[str, Any] = {}
    wait = {"generation_rule": {"event_count": 500}}
    await ours().add_memory(app_name=APP, user_id=user, memories=[entry("Likes green tea.")])
    events = [turn("My tea is from Japan.", timestamp=MARCH_4.timestamp()), turn("Nice tea!", author="agent")]
    events.append(tool_response({"text": "tea"}))
    await add(user, events, **wait)
    for name, query, settings in (
        ("all", "tea", {}),
        ("without", "tea", {"include_pending": False}),
        ("most", "tea", {"top_k": 2}),
        ("own", " My tea is from Japan. ", {}),
        ("blank", " ", {}),
    ):
        response = await ours(**settings).search_memory(app_name=APP, user_id=user, query=query)
        entries = [
            [each.content.parts[0].text, each.author, each.content.role, each.id is None, each.custom_metadata]
            for each in response.memories
        ]
        found[name] = sorted(entries, key=str)
        found["times"] = sorted({str(each.timestamp) for each in response.memories} | {*found.get("times", ())})
    return found


@case
async def own_timeout(user: str) -> float:
    """Return the seconds that a call with its own timeout takes where nobody answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        memory = ours(f"http://127.0.0.1:{silent.getsockname()[1]}")
        settings, begun = {"http_options": {"timeout": 300}}, time.monotonic()
        with contextlib.suppress(StreambankError):
            fact = entry("Likes tea.")
            await memory.add_memory(app_name=APP, user_id=user, memories=[fact], custom_metadata=settings)
    return time.monotonic() - begun


@case
async def rewound(user: str) -> None:
    await add(user, [
        turn("I live in Graz.", invocation="1"),
        turn("I live in Linz.", invocation="2"),
        turn("I hate tea.", invocation="3"),
        Event(author="user", invocation_id="4", actions=EventActions(rewind_before_invocation_id="2")),
        turn("I play chess.", invocation="5"),
    ])  # fmt: skip


@case
async def rewind_taken_back(user: str) -> None:
    await add(user, [
        turn("I live in Graz.", invocation="1"),
        turn("I like tea.", invocation="2"),
        Event(author="user", invocation_id="3", actions=EventActions(rewind_before_invocation_id="1")),
        Event(author="user", invocation_id="4", actions=EventActions(rewind_before_invocation_id="3")),
    ])  # fmt: skip


@case
async def transcriptions(user: str) -> None:
    def spoken(author: str, field: str, text: str, **fields: Any) -> Event:
        finished = fields.pop("finished", True)
        return Event(
            author=author, invocation_id="1", **{field: types.Transcription(text=text, finished=finished)}, **fields
        )

    await add(user, [
        spoken("user", "input_transcription", "I live", partial=True, finished=None),
        spoken("user", "input_transcription", "I live in", finished=False),
        spoken("user", "input_transcription", "I live in Graz."),
        spoken("agent", "output_transcription", "Graz is lovely."),
    ])  # fmt: skip


@case
async def event_settings(user: str) -> None:
    """Add events with settings in `custom_metadata`: memories are made at once, although the rule would wait."""
    await ours().add_events_to_memory(
        app_name=APP,
        user_id=user,
        session_id="session",
        events=[turn("I live in Graz.")],
        custom_metadata={
            "ttl": "86400s",
            "force_flush": True,
            "stream_id": "own",
            "generation_trigger_config": {"generation_rule": {"event_count": 500}},
            "revision_labels": {"channel": "phone", "number": 1},
            "wait_for_completion": True,
            "http_options": {"timeout": 30_000, "api_version": "v1"},
            "metadata": {"level": {"double_value": 3}},
            "source": "crm",
            "tags": ["a", "b"],
        },
    )


@case
async def waiting_events(user: str) -> None:
    """Add events with a rule that waits, and then change the rule without events."""
    memory, config = ours(), "generation_trigger_config"
    for events, count in (([turn("I live in Graz.")], 500), ([], 2)):
        rule = {"generation_rule": {"event_count": count}}
        await memory.add_events_to_memory(app_name=APP, user_id=user, events=events, custom_metadata={config: rule})


@case
async def allowed_topics(user: str) -> None:
    await ours().add_events_to_memory(
        app_name=APP,
        user_id=user,
        events=[turn("I live in Graz."), turn("I like tea.")],
        custom_metadata={"allowed_topics": ["USER_PREFERENCES"], "wait_for_completion": True, "stream_id": "own"},
    )


FACT_SETTINGS = {
    "ttl": "86400s",
    "display_name": "Name",
    "description": "About",
    "topics": [{"managed_memory_topic": "USER_PREFERENCES"}],
    "metadata": {"level": {"double_value": 3}},
    "wait_for_completion": True,
    "source": "crm",
    "tags": ["a", "b"],
    "score": 2,
    "vip": True,
}


@case
async def facts_of_both_services(user: str) -> None:
    """Add the same fact with the same settings through ours, and through ADK's own service for another user."""
    for owner, memory, memory_id in ((user, ours(), "ours"), (f"{user}-google", googles(), "googles")):
        fact = entry(" Likes tea. ", id=f"{user}-{memory_id}", author="ada", timestamp="2026-01-02")
        await memory.add_memory(app_name=APP, user_id=owner, memories=[fact], custom_metadata=FACT_SETTINGS)


@case
async def events_of_both_services(user: str) -> None:
    """Add the same event with settings of GenerateMemories through both services."""
    settings = {"ttl": "86400s", "source": "crm", "metadata": {"vip": True}, "wait_for_completion": True}
    for owner, memory in ((user, ours()), (f"{user}-google", googles())):
        events = [turn("I live in Graz.")]
        await memory.add_events_to_memory(app_name=APP, user_id=owner, events=events, custom_metadata=settings)


@case
async def labels(user: str) -> None:
    fact = entry("Likes tea.", author="ada", timestamp="2026-01-02", custom_metadata={"revision_labels": {"a": "b"}})
    await ours().add_memory(app_name=APP, user_id=user, memories=[fact])


@case
async def ids(user: str) -> dict[str, Any]:
    memory, memory_id = ours(), f"{user}-fact"
    found: dict[str, Any] = {}

    async def stored() -> list[Any]:
        response = await memory.search_memory(app_name=APP, user_id=user, query=" ")
        return [[each.id, each.content.parts[0].text] for each in response.memories]

    async def adding(text: str, **settings: Any) -> str:
        try:
            await memory.add_memory(app_name=APP, user_id=user, memories=[entry(text, id=memory_id)], **settings)
        except AlreadyExists as error:
            return str(error)
        return "added"

    found["first"] = [await adding("Likes tea."), await stored()]
    found["again"] = [await adding("Likes tea."), await stored()]
    found["other text"] = [await adding("Likes coffee."), await stored()]
    found["own id"] = [
        await adding("Likes soup.", custom_metadata={"memory_id": f"{memory_id}-2"}),
        len(await stored()),
    ]
    await memory.delete_memory(app_name=APP, user_id=user, memory_id=memory_id)
    found["deleted"] = await stored()
    found["after deletion"] = await adding("Likes tea.")
    return found


@case
async def consolidated(user: str) -> list[str]:
    """Add seven facts that are consolidated, twice; and return why a text is not accepted as the flag."""
    memory = ours()
    facts = [entry(f"I own {number} kites of my uncle {name}.") for number, name in enumerate("ABCDEFG")]
    for _ in range(2):
        settings = {"enable_consolidation": True, "wait_for_completion": True, "ttl": "86400s", "topics": []}
        await memory.add_memory(app_name=APP, user_id=user, memories=facts, custom_metadata=settings)
    errors = []
    for memories, metadata in ((facts, {"enable_consolidation": "yes"}), ([], None), ([entry(" ")], None)):
        try:
            await memory.add_memory(app_name=APP, user_id=user, memories=memories, custom_metadata=metadata)
        except (TypeError, ValueError) as error:
            errors.append(f"{type(error).__name__}: {error}")
    return errors


class ProfileServer(BaseHTTPRequestHandler):
    """Answers every call with one profile."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps({"profiles": {"person": {"schemaId": "person", "profile": {"diet": "vegan"}}}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@case
async def profiles(user: str) -> list[list[Any]]:
    """Return the profiles of both services: none of the service itself, and one of a scripted server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), ProfileServer)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    scripted = f"http://127.0.0.1:{server.server_address[1]}"
    services = [make(url) for url in (URL, scripted) for make in (ours, googles)]
    found = [await memory.retrieve_profiles(app_name=APP, user_id=user) for memory in services]
    server.shutdown()
    return [[[profile.schema_id, profile.profile] for profile in each] for each in found]


@case
async def odd_queries(user: str) -> list[int]:
    """Return how many memories are found by a query of half a surrogate pair, and by a very long one."""
    memory = ours()
    await memory.add_memory(app_name=APP, user_id=user, memories=[entry("Likes tea \ud83d.")])
    queries = ("tea \ud83d", "tea " + "漢" * 8_000)
    return [len((await memory.search_memory(app_name=APP, user_id=user, query=each)).memories) for each in queries]


class Records(logging.Handler):
    """Keeps everything that is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(repr(record.__dict__))


def main() -> None:
    records = Records()
    logging.getLogger("streambank_client").addHandler(records)
    logging.getLogger("streambank_client").setLevel(logging.DEBUG)
    told: dict[str, Any] = {}
    for name, function in CASES.items():
        records.records.clear()
        value = asyncio.run(function(f"{PREFIX}-{name}".replace("_", "-")))
        told[name] = {"value": value, "log": list(records.records)}
    print(json.dumps(told))


main()
