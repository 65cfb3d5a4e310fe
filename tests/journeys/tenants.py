"""Somebody else's things in a bank, and how each route is asked for them: the walk of the threats."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product

from infra.openapi.document import BANKS, full_path
from streambank.api.app import ROUTER
from streambank.api.route import Route
from tests.journeys.caller import PARENT, VERSION, Caller, Document, Stream, said

# It stands in every text that they have, and in nothing else: no answer to anybody else may hold it.
MARK = "Xanthippe7f3a"
THEIRS = {"user_id": "theirs"}
# Ways to spell the path of the banks.
SPELLINGS = (f"{VERSION}/{PARENT}", "/v1/memoryBanks")
Ids = dict[str, str]


@dataclass(frozen=True)
class Tenant:
    """A bank, and the ids of what is in it: of each kind one at least."""

    bank: str
    ids: dict[str, list[str]]

    @classmethod
    def planted(cls, admin: Caller, bank: str) -> Tenant:
        """Put something of every kind into *bank*."""
        operations = [*_windows(admin, bank), _erasure(admin, bank)]
        admin.settle()
        memory = {
            "scope": THEIRS,
            "fact": f"Owns {MARK}.",
            "displayName": MARK,
            "metadata": {"k": {"stringValue": MARK}},
        }
        made = admin.post(f"{bank}/memories", memory)["response"]["name"]
        every = {row["name"] for row in admin.memories(THEIRS, bank)}
        conversation = {"messages": [{"said": MARK}], "format": MARK}
        admin.call("PUT", f"{bank}/chatHistory", conversation, params={"conversationId": "c1"})
        ids = {
            "bank": [bank],
            "memory": sorted(every, key=lambda name: name != made)[:2],
            "revision": ["1"],
            "review": [_review(admin, bank)],
            "session": [_session(admin, bank)],
            "operation": operations,
        }
        return cls(
            bank.rsplit("/", 1)[1],
            {kind: [one.rsplit("/", 1)[1] if "/" in one else one for one in found] for kind, found in ids.items()},
        )


def _windows(admin: Caller, bank: str) -> Iterator[str]:
    """A window that has ended, its generation, one that is open, a direct generation, and the one before all."""
    ended = Stream(admin, bank, THEIRS, "s").flush(said(f"I am allergic to {MARK}.", "e1"))["name"]
    direct = {"scope": THEIRS, "directMemoriesSource": {"directMemories": [{"fact": f"Fears {MARK}."}]}}
    yield ended
    yield f"{ended}-g"
    yield re.sub("-[0-9]+$", "-0", ended)
    yield Stream(admin, bank, THEIRS, "pending").send(said(MARK, "e1"), rule={"event_count": 9})["name"]
    yield admin.post(f"{bank}/memories:generate", direct)["name"]


def _review(admin: Caller, bank: str) -> str:
    """A change of a pinned memory that waits."""
    stream = Stream(admin, bank, THEIRS, "pins")
    stream.flush(said("My favorite color is blue."))
    [memory] = [one for one in admin.memories(THEIRS, bank) if "blue" in one["fact"]]
    admin.call("PATCH", memory["name"], {"pinned": True})
    stream.flush(said(f"My favorite color is {MARK}."))
    [review] = admin.get(f"{bank}/memories:reviews")["reviews"]
    assert MARK in review["fact"]
    name: str = review["name"]
    return name


def _erasure(admin: Caller, bank: str) -> str:
    name: str = admin.post(f"{bank}:eraseScope", {"scope": {"user_id": "gone"}})["name"]
    return name


def _session(admin: Caller, bank: str) -> str:
    state = {"userId": "theirs", "displayName": MARK, "sessionState": {"k": MARK}, "labels": {"k": MARK}}
    name: str = admin.post(f"{bank}/sessions", state)["response"]["name"]
    admin.post(f"{name}:appendEvent", turn(MARK))
    return name


def turn(text: str) -> Document:
    content = {"parts": [{"text": text}], "role": "user"}
    return {"author": "user", "invocationId": "1", "timestamp": "2026-01-01T00:00:00+00:00", "content": content}


# ---- how each route is asked


@dataclass(frozen=True)
class Probe:
    """A request to a route that is right in all but whose things it is about.

    *bound* is what a key of the same bank is answered that is bound to another scope.
    """

    bound: int
    body: Callable[[Ids], Document] | None = None
    query: dict[str, str] = field(default_factory=dict)


def _in_scope(**more: object) -> Callable[[Ids], Document]:
    return lambda _: {"scope": THEIRS, **more}


def _plain(**body: object) -> Callable[[Ids], Document]:
    return lambda _: dict(body)


_EVENTS = {"events": [{"content": {"parts": [{"text": "Poison."}]}}]}
_CHAT = {"conversationId": "c1"}
_OF_SESSION = Probe(
    404, lambda ids: {"vertexSessionSource": {"session": f"{PARENT}/{ids['bank']}/sessions/{ids['session']}"}}
)
_TAKEN_IN = Probe(403, _in_scope(directContentsSource=_EVENTS, forceFlush=True))

# What is above the banks, with what a key of one bank is answered; and every other route. 200 has its reason beside it.
ABOVE = {"createBank": 403, "listBanks": 200}
PROBES: dict[str, list[Probe]] = {
    "getBank": [Probe(200)],  # a bank's configuration may be read by whoever has a key of it
    "updateBank": [Probe(403, _plain(displayName="mine now"))],
    "deleteBank": [Probe(403, query={"force": "true"})],
    "getBankCreation": [Probe(200)],  # says what getBank says
    "getBankUpdate": [Probe(200)],
    "getUsage": [Probe(403)],
    "listStreams": [Probe(403)],
    "findEvents": [Probe(403, _in_scope(streamId="s", eventIds=["e1"]))],
    "redriveOperations": [Probe(403)],
    "eraseScope": [Probe(403, _in_scope()), Probe(403, _in_scope(dryRun=True))],
    "moveScope": [
        Probe(403, _in_scope(targetScope={"user_id": "mine"})),
        Probe(403, lambda _: {"scope": {"user_id": "mine"}, "targetScope": THEIRS}),
        Probe(403, _in_scope(targetScope={"user_id": "mine"}, dryRun=True)),
    ],
    "eraseBank": [Probe(403, _plain(force=True)), Probe(403, _plain(dryRun=True))],
    "reindexBank": [Probe(403, _plain())],
    "applyContentPolicy": [Probe(403, _plain())],
    "getConsent": [Probe(403, query={"scope": '{"user_id": "theirs"}'})],
    "updateConsent": [Probe(403, _in_scope(learning="DISABLED"))],
    "replayBank": [Probe(403, _plain(windows=1)), Probe(403, _in_scope(windows=1))],
    "replayOperation": [Probe(404, _plain())],
    "exportBank": [Probe(403, _plain()), Probe(403, _in_scope())],
    "importBank": [Probe(403, lambda ids: {"source": f"{ids['bank']}/export-1/manifest.json"})],
    "ingestEvents": [_TAKEN_IN],
    "ingestEventsOfBank": [_TAKEN_IN],
    "generateMemories": [Probe(403, _in_scope(directContentsSource=_EVENTS)), _OF_SESSION],
    "createMemory": [Probe(403, _in_scope(fact="Poison."))],
    "listMemories": [
        Probe(403),
        Probe(403, query={"filter": 'scope.user_id="theirs"'}),
        Probe(403, query={"filter": 'scope="{\\"user_id\\": \\"theirs\\"}"'}),
        Probe(403, query={"filter": f'fact:"{MARK}"'}),
    ],
    "listReviews": [Probe(403), Probe(403, query={"filter": 'scope="{\\"user_id\\": \\"theirs\\"}"'})],
    "acceptReview": [Probe(404)],
    "rejectReview": [Probe(404)],
    "listChanges": [Probe(403), Probe(403, query={"filter": 'scope="{\\"user_id\\": \\"theirs\\"}"'})],
    "getMemory": [Probe(404)],
    "updateMemory": [Probe(404, _plain(fact="Poison.")), Probe(404, _in_scope(fact="Poison."))],
    "deleteMemory": [Probe(404)],
    "rollbackMemory": [Probe(404, _plain(targetRevisionId="1"))],
    # Each request has an answer of its own, which `test_journey_batches.py` reads.
    "batchCreateMemories": [Probe(200, lambda ids: {"requests": [{"memory": _in_scope(fact="Poison.")(ids)}]})],
    "batchUpdateMemories": [
        Probe(200, lambda ids: {"requests": [{"memory": {"name": ids["memory"], "fact": "Poison."}}]})
    ],
    "batchDeleteMemories": [Probe(200, lambda ids: {"names": [ids["memory"]]})],
    "purgeMemories": [Probe(403, _plain(filter='scope.user_id="theirs"', force=force)) for force in (False, True)],
    "retrieveMemories": [
        Probe(403, _in_scope()),
        Probe(403, _in_scope(similaritySearchParams={"searchQuery": "allergic", "includeEvents": True})),
        Probe(403, lambda _: {"scopes": [{"user_id": "mine"}, THEIRS]}),
    ],
    "retrieveProfiles": [Probe(403, _in_scope())],
    "listRevisions": [Probe(404)],
    "getRevision": [Probe(404)],
    "getMemoryOperation": [Probe(404)],
    "createSession": [Probe(403, _plain(userId="theirs"))],
    "listSessions": [Probe(403), Probe(403, query={"filter": 'user_id="theirs"'})],
    "getSession": [Probe(404)],
    "updateSession": [Probe(404, _plain(displayName="mine now"))],
    "deleteSession": [Probe(404)],
    "getSessionCreation": [Probe(404)],
    "getSessionDeletion": [Probe(200)],  # whatever is not there was deleted
    "appendEvent": [Probe(404, lambda _: turn("Poison."))],
    "listSessionEvents": [Probe(404)],
    "getChatHistory": [Probe(403, query=_CHAT)],
    "storeChatHistory": [Probe(403, _plain(messages=[]), _CHAT)],
    "appendChatHistory": [Probe(403, _plain(messages=[{"n": 1}]), _CHAT)],
    "deleteChatHistory": [Probe(403, query=_CHAT)],
    "listOperations": [Probe(403)],
    "listJobs": [Probe(403)],
    "getOperation": [Probe(404)],
    "deleteOperation": [Probe(404)],
    "cancelOperation": [Probe(404)],
    "waitForOperation": [Probe(404, query={"timeout": "0s"})],
    "redriveOperation": [Probe(404)],
}
BY_NAME = {route.name: route for route in ROUTER.routes}


@dataclass(frozen=True)
class Asked:
    """A request of the walk, ready to be sent."""

    route: Route
    probe: Probe
    ids: Ids
    spelling: str = SPELLINGS[0]

    @property
    def path(self) -> str:
        path = full_path(self.route).replace(BANKS, self.spelling)
        for kind, name in self.ids.items():
            path = path.replace(f"{{{kind}}}", name)
        return path

    @property
    def body(self) -> Document | None:
        return self.probe.body(self.ids) if self.probe.body else None

    def about(self, **ids: str) -> Asked:
        """Return the same request about other things."""
        return Asked(self.route, self.probe, {**self.ids, **ids}, self.spelling)

    def about_nothing(self) -> Asked:
        """Return the same request about things that never were, of the same kinds."""
        return self.about(**{kind: _like(kind, name) for kind, name in self.ids.items() if kind != "bank"})

    @property
    def names_something(self) -> bool:
        """Tell whether the request is about more than a bank."""
        is_in_body = self.probe is _OF_SESSION
        return is_in_body or any(f"{{{kind}}}" in full_path(self.route) for kind in self.ids if kind != "bank")


def _like(kind: str, name: str) -> str:
    if kind == "operation":
        return re.sub("[a-z2-7]{26}", "a" * 26, name)
    return name if kind == "revision" else f"no-{kind}"


def walk(tenant: Tenant, spellings: tuple[str, ...] = SPELLINGS) -> Iterator[Asked]:
    """Yield every request of every route that is about a bank, for each thing of *tenant*'s that it could name."""
    for (name, probes), spelling in product(PROBES.items(), spellings):
        route = BY_NAME[name]
        for probe, ids in product(probes, _choices(route, tenant)):
            yield Asked(route, probe, ids, spelling)


def _choices(route: Route, tenant: Tenant) -> list[Ids]:
    """Return each choice of ids for the path of *route*; what it does not name is the first of its kind."""
    kinds = list(tenant.ids)
    named = [tenant.ids[kind] if f"{{{kind}}}" in full_path(route) else tenant.ids[kind][:1] for kind in kinds]
    if route.name == "getMemoryOperation":
        named[kinds.index("operation")] = ["create-1", "update-1", "delete-1", *tenant.ids["operation"]]
    return [dict(zip(kinds, chosen, strict=True)) for chosen in product(*named)]
