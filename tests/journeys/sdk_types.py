"""Reads replies as Google's SDK reads them: a program for the interpreter that has the SDK.

    python sdk_types.py < answers.json > findings.json

An answer is {"line", "method", "path", "after", "body"}; "after" is the path of the call whose operation is read.
A finding is {"line", "type", "error", "dropped"}: the type that the SDK made, what it raised, and the fields of the
body that its type has no place for. Each body goes the SDK's whole way, by the method that reads such a reply: only
what comes in by HTTP is ours.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

warnings.simplefilter("ignore")
import agentplatform  # noqa: E402 - it warns as it is imported
import google.oauth2.credentials  # noqa: E402
import httpx  # noqa: E402

Document = dict[str, Any]
Call = Callable[[], Any]
NAME = "reasoningEngines/1"
BEGUN = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)


class Recorded(httpx.BaseTransport):
    """Answers every request with the body that it holds."""

    body = ""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, text=self.body, request=request)


RECORDED = Recorded()
CLIENT = agentplatform.Client(
    project="p",
    location="l",
    credentials=google.oauth2.credentials.Credentials(token="t"),
    http_options={"base_url": "http://answers/", "client_args": {"transport": RECORDED}},
)
BANKS, SESSIONS = CLIENT.memory_banks, CLIENT.sessions
MEMORIES = BANKS.memories
REVISIONS = MEMORIES.revisions

READERS: dict[str, Call] = {
    "POST reasoningEngines": lambda: BANKS._create(),
    "GET reasoningEngines": lambda: BANKS._list(),
    "GET reasoningEngines/*": lambda: BANKS._get(name=NAME),
    "PATCH reasoningEngines/*": lambda: BANKS._update(name=NAME),
    "DELETE reasoningEngines/*": lambda: BANKS._delete(name=NAME),
    "POST memories:ingestEvents": lambda: BANKS._ingest_events(name=NAME),
    "POST memories:generate": lambda: MEMORIES._generate(name=NAME),
    "POST memories": lambda: MEMORIES._create(name=NAME, fact="", scope={}),
    "GET memories": lambda: MEMORIES._list(name=NAME),
    "GET memories/*": lambda: MEMORIES.get(name=NAME),
    "PATCH memories/*": lambda: MEMORIES._update(name=NAME),
    "DELETE memories/*": lambda: MEMORIES.delete(name=NAME),
    "POST memories:retrieve": lambda: MEMORIES._retrieve(name=NAME, scope={}),
    "POST memories:retrieveProfiles": lambda: MEMORIES.retrieve_profiles(name=NAME, scope={}),
    "POST memories/*:rollback": lambda: MEMORIES._rollback(name=NAME, target_revision_id="1"),
    "POST memories:purge": lambda: MEMORIES._purge(name=NAME),
    "GET revisions": lambda: REVISIONS._list(name=NAME),
    "GET revisions/*": lambda: REVISIONS.get(name=NAME),
    "POST sessions": lambda: SESSIONS._create(name=NAME, user_id="u"),
    "GET sessions": lambda: SESSIONS._list(name=NAME),
    "GET sessions/*": lambda: SESSIONS.get(name=NAME),
    "PATCH sessions/*": lambda: SESSIONS._update(name=NAME),
    "DELETE sessions/*": lambda: SESSIONS.delete(name=NAME),
    "POST sessions/*:appendEvent": lambda: SESSIONS.events.append(
        name=NAME, author="user", invocation_id="1", timestamp=BEGUN
    ),
    "GET events": lambda: SESSIONS.events._list(name=NAME),
}

# By what an operation is polled with hangs on the call that began it, not on its name.
POLLERS: dict[str, Call] = {
    "generate": lambda: MEMORIES._get_generate_memories_operation(operation_name=NAME),
    "memory": lambda: MEMORIES._get_memory_operation(operation_name=NAME),
    "session": lambda: SESSIONS._get_session_operation(operation_name=NAME),
    "bank": lambda: BANKS._get_memory_bank_operation(operation_name=NAME),
}


def reader(answer: Document) -> Call:
    """Return the SDK's method that reads such an answer."""
    if "/operations/" in answer["path"]:
        return POLLERS[_began(answer["after"])]
    return READERS[f"{answer['method']} {kind(answer['path'])}"]


def kind(path: str) -> str:
    """Return what a path ends in, with a star for an id: `memories/*:rollback`."""
    parent, last = path.rsplit("/", 2)[1:]
    if re.match(r"(reasoningEngines|memories|revisions|sessions|events)(:|$)", last):
        return last
    return f"{parent}/*{''.join(last.partition(':')[1:])}"


def _began(path: str) -> str:
    if path.endswith(":generate"):
        return "generate"
    if path.endswith(":ingestEvents"):
        return "bank"
    return {"memories": "memory", "sessions": "session"}.get(re.split(r"[:/]", kind(path))[0], "bank")


def places(value: Any, at: str = "") -> Iterator[str]:
    """Yield where a document has fields, whatever the place in a list."""
    if isinstance(value, dict):
        for key, item in value.items():
            place = f"{at}.{key}".lstrip(".")
            yield place
            yield from places(item, place)
    elif isinstance(value, list):
        for item in value:
            yield from places(item, f"{at}[]")


def finding(answer: Document) -> Document:
    """Return what the SDK makes of an answer."""
    found: Document = {"line": answer["line"], "type": None, "error": None, "dropped": []}
    RECORDED.body = answer["body"]
    try:
        with warnings.catch_warnings():
            # An enum's value that the SDK does not know is a warning.
            warnings.simplefilter("error", UserWarning)
            parsed = reader(answer)()
    except Exception as error:
        return found | {"error": f"{type(error).__name__}: {error}"}
    parsed_places = places(parsed.model_dump(mode="json", by_alias=True, exclude_none=True))
    # `schema` is a method of the SDK's types, so that the field has another name there.
    kept = {re.sub(r"\bmemorySchema\b", "schema", place) for place in parsed_places}
    dropped = [place for place in places(json.loads(answer["body"])) if place not in kept]
    return found | {"type": type(parsed).__name__, "dropped": sorted(set(dropped))}


if __name__ == "__main__":
    json.dump([finding(answer) for answer in json.load(sys.stdin)], sys.stdout)
