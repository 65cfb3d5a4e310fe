"""Tenants: each has a bank, an archive that imports fill, and keys that open these two alone."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from tests.blackbox.books import Bank, Memory, Scope, Stream, scope_of
from tests.blackbox.calls import ROOT, Calls, strange_words
from tests.blackbox.words import Words

ALL_ROLES = ["ingest", "read", "edit", "admin"]
STREAMS = ("default", "chat")


@dataclass
class Tenant:
    name: str
    bank: Bank
    archive: Bank
    scopes: list[dict[str, str]] = field(default_factory=list)

    @property
    def banks(self) -> list[Bank]:
        return [self.bank, self.archive]


class World:
    """All tenants of a history, and the service that they share."""

    def __init__(self, calls: Calls, seed: int, tenants: int) -> None:
        self.calls, self.rng = calls, random.Random(seed)
        self.words = Words(random.Random(f"words {seed}"))
        self.counter, self.moved = 0, 0
        self.sent: list[Any] = []
        """Calls of ingestEvents that may come again."""
        self.tenants: list[Tenant] = []
        calls.watch = self._watch
        for number in range(tenants):
            name = f"tenant{number}"
            # The first scope has the same name for every tenant, the others are their own.
            scopes = [{"user_id": "1"}, {"user_id": "2", "app": name}, {"user_id": f"of-{name}"}]
            self.tenants.append(Tenant(name, self.open_bank(scopes[0]), self.open_bank(scopes[0]), scopes))

    def open_bank(self, bound_scope: dict[str, str]) -> Bank:
        """Make a bank and its keys; writer and bound reader are bound to *bound_scope*."""
        name = self.calls.ok(ROOT, "POST", "reasoningEngines", {})["name"]
        bank = Bank(name.split("/operations/")[0], bound_scope=scope_of(bound_scope))
        bank.operator = self.calls.key(bank.id, ALL_ROLES)
        bank.writer = self.calls.key(bank.id, ["ingest"], bound_scope)
        bank.reader = self.calls.key(bank.id, ["read"])
        bank.bound_reader = self.calls.key(bank.id, ["read"], bound_scope)
        return bank

    def number(self) -> int:
        self.counter += 1
        return self.counter

    def tenant(self) -> Tenant:
        return self.rng.choice(self.tenants)

    def other(self, tenant: Tenant) -> Tenant:
        return self.rng.choice([one for one in self.tenants if one is not tenant])

    def bank(self) -> tuple[Tenant, Bank]:
        """Return a bank for the next action, mostly not an archive."""
        tenant = self.tenant()
        return tenant, tenant.archive if self.rng.random() < 0.2 else tenant.bank

    def stream(self, tenant: Tenant, bank: Bank) -> Stream:
        written = [stream for stream in bank.streams.values() if stream.events]
        if written and self.rng.random() < 0.5:
            return self.rng.choice(written)
        return bank.stream(scope_of(self.rng.choice(tenant.scopes)), self.rng.choice(STREAMS))

    def banks(self) -> list[Bank]:
        return [bank for tenant in self.tenants for bank in tenant.banks]

    def _watch(self, key: str, path: str, request: str, reply: str) -> None:
        """No reply shows a word, a bank or a memory that the bank of the path does not have."""
        for bank in self.banks():
            is_bank = path.startswith(bank.path) and path[len(bank.path) :][:1] in ("", "/", ":", "?")
            if is_bank:
                allowed = {
                    word
                    for word, scope in bank.words.items()
                    if key != bank.bound_reader or set(bank.bound_scope) <= set(scope)
                }
                strange = strange_words(reply, request, allowed)
                assert not strange, f"{bank.id} shows {strange}, which it does not have"
                self._no_foreign_ids(bank, request, reply)
                return
        assert not strange_words(reply, request, set()), f"{path} shows {reply}"

    def _no_foreign_ids(self, bank: Bank, request: str, reply: str) -> None:
        own = next(tenant for tenant in self.tenants if bank in tenant.banks)
        for tenant in self.tenants:
            for foreign in tenant.banks if tenant is not own else []:
                assert foreign.id not in reply or foreign.id in request, f"{bank.id} shows the bank {foreign.id}"
                for memory in foreign.memories.values():
                    name = short(memory)
                    # A memory that a caller has named may have a namesake.
                    if name.startswith("0") and name not in request:
                        assert name not in reply, f"{bank.id} shows the memory {name} of {foreign.id}"


def short(memory: Memory) -> str:
    """Return the id of *memory*, or "" while it is not known."""
    return (memory.name or "").rsplit("/", 1)[-1]


def scope_body(scope: Scope) -> dict[str, str]:
    return dict(scope)


def event_body(text: str, event_id: str | None) -> dict[str, Any]:
    body: dict[str, Any] = {"content": {"role": "user", "parts": [{"text": text}]}}
    return body | ({"eventId": event_id} if event_id else {})
