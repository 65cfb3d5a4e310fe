"""Consent: a scope that is set to learn nothing gets no memories, and nothing of what is said there is stored."""

from __future__ import annotations

from typing import Any

from tests.journeys.caller import DEFAULT_BANK, Caller, Document, said


def set_learning(caller: Caller, scope: dict[str, str], learning: str, bank: str = DEFAULT_BANK) -> Document:
    return caller.call("PATCH", f"{bank}/consent", {"scope": scope, "learning": learning})


def consent(caller: Caller, scope: dict[str, str], bank: str = DEFAULT_BANK) -> Any:
    text = '{"user_id": "' + scope["user_id"] + '"}'
    return caller.get(f"{bank}/consent", params={"scope": text})["learning"]


def test_nothing_is_learnt_after_a_no(caller: Caller) -> None:
    """Events are answered and dropped: nothing of them is in the table, and no generation begins."""
    bank = caller.bank()
    stream = caller.stream(bank=bank)
    assert consent(caller, stream.scope, bank) == "ENABLED"
    reply = set_learning(caller, stream.scope, "DISABLED", bank)
    assert (reply["learning"], reply["scope"]) == ("DISABLED", stream.scope)
    assert reply["updateTime"]
    assert consent(caller, stream.scope, bank) == "DISABLED"
    before = caller.generations()
    sent = stream.send(said("I like tea.", "a"), said("I like bees."), force_flush=True)
    assert sent["done"]
    assert {name: sent["metadata"][name] for name in ("acceptedEvents", "droppedEvents", "learning")} == {
        "acceptedEvents": 0,
        "droppedEvents": 2,
        "learning": "DISABLED",
    }
    caller.settle()
    assert caller.generations() == before
    bank_id = bank.rsplit("/", 1)[-1]
    assert [item for item in caller.items() if item["PK"]["S"].startswith(f"S#{bank_id}#")] == []
    body = {"scope": stream.scope, "directMemoriesSource": {"directMemories": [{"fact": "Likes tea."}]}}
    assert "learn nothing" in caller.post(f"{bank}/memories:generate", body, status=400)["error"]["message"]
    memory = {"scope": stream.scope, "fact": "Likes tea."}
    assert caller.post(f"{bank}/memories", memory, status=400)["error"]["status"] == "FAILED_PRECONDITION"
    other = caller.stream(bank=bank)
    other.flush(said("I like bees.", "a"))
    assert caller.facts(other.scope, bank), "others still learn"


def test_what_waits_is_not_learnt_either(caller: Caller) -> None:
    """A window that was open at the no ends without a memory, and says why."""
    bank = caller.bank()
    stream = caller.stream(bank=bank)
    waiting = stream.send(said("I like tea.", "a"), rule={"event_count": 5})
    set_learning(caller, stream.scope, "DISABLED", bank)
    caller.advance(hours=25)
    done = caller.get(waiting["name"])
    assert done["done"], done
    assert done["metadata"]["coverage"] == {"events": 1, "covered": 0, "notCovered": {"LEARNING_DISABLED": 1}}
    assert caller.facts(stream.scope, bank) == []


def test_what_was_said_meanwhile_is_never_learnt(caller: Caller) -> None:
    """After a yes new events are learnt, and those that were said in between are dropped however late they come."""
    bank = caller.bank()
    stream = caller.stream(bank=bank)
    set_learning(caller, stream.scope, "DISABLED", bank)
    at = caller.service.clock.now().isoformat()
    stream.send(said("I like tea.", "a", at=at))
    caller.advance(minutes=5)
    set_learning(caller, stream.scope, "ENABLED", bank)
    caller.advance(minutes=5)
    now = caller.service.clock.now().isoformat()
    sent = stream.flush(said("I like tea.", "a", at=at), said("I like bees.", "b", at=now))
    assert sent["done"]
    assert caller.facts(stream.scope, bank) == ["I like bees"]


def test_an_erasure_keeps_the_no(caller: Caller) -> None:
    """A user who said no and is erased stays a no, whatever is erased: the scope, or the bank."""
    bank = caller.bank()
    stream = caller.stream(bank=bank)
    stream.flush(said("I like tea.", "a"))
    set_learning(caller, stream.scope, "DISABLED", bank)
    caller.post(f"{bank}:eraseScope", {"scope": stream.scope})
    caller.post(f"{bank}:erase", {"force": True})
    caller.advance(minutes=3)
    assert consent(caller, stream.scope, bank) == "DISABLED"
    assert stream.send(said("I like bees."))["metadata"]["droppedEvents"] == 1
    assert caller.facts(stream.scope, bank) == []


def test_a_wrong_scope_is_refused(caller: Caller) -> None:
    """The scope in the query is JSON of a scope, and a learning is one of two words."""
    for text in ("", "nonsense", "[]", '{"user_id": "*"}'):
        assert "scope" in caller.get(f"{DEFAULT_BANK}/consent", params={"scope": text}, status=400)["error"]["message"]
    body = {"scope": caller.scope(), "learning": "MAYBE"}
    assert "learning" in caller.call("PATCH", f"{DEFAULT_BANK}/consent", body, status=400)["error"]["message"]


def test_an_export_brings_the_no_along(caller: Caller) -> None:
    """A bank that imports an export learns nothing about whom it was no there; a newer setting of its own stays."""
    bank, other, newer = caller.bank(), caller.bank(), caller.bank()
    scope = caller.scope()
    caller.post(f"{bank}/memories", {"scope": scope, "fact": "Likes tea."})
    set_learning(caller, scope, "DISABLED", bank)
    source = caller.post(f"{bank}:export", {})["response"]["source"]
    caller.advance(minutes=1)
    set_learning(caller, scope, "DISABLED", newer)
    set_learning(caller, scope, "ENABLED", newer)
    for target, count in ((other, "consents"), (newer, "consentsKept")):
        done = caller.post(f"{target}:import", {"source": source})
        assert done["response"]["imported"][count] == 1
    assert consent(caller, scope, other) == "DISABLED"
    assert consent(caller, scope, newer) == "ENABLED"
    assert caller.facts(scope, other) == ["Likes tea."]
    assert caller.stream(scope, bank=other).send(said("I like bees."))["metadata"]["droppedEvents"] == 1
