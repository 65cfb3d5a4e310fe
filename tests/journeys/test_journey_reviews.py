"""Pinned memories, and what waits for review because of them or of a bank's policy."""

from __future__ import annotations

from typing import Any

import pytest

from tests.journeys.caller import DEFAULT_BANK, PARENT, Caller, Document, Stream, said
from tests.journeys.test_journey_memories import pages

BLUE, GREEN = "My favorite color is blue.", "My favorite color is green."


def reviews(caller: Caller, scope: dict[str, str] | None, bank: str = DEFAULT_BANK, **query: str) -> list[Document]:
    """Return the open reviews of a scope, or of a bank."""
    named = {"filter": f'scope.user_id="{scope["user_id"]}"'} if scope else {}
    whole = {"filter": 'scope="{\\"user_id\\": \\"' + scope["user_id"] + '\\"}"'} if scope else {}
    found: list[Document] = caller.get(f"{bank}/memories:reviews", params={**whole, **query})["reviews"]
    if scope:
        assert caller.get(f"{bank}/memories:reviews", params={**named, **query})["reviews"] == found
    return found


def decide(caller: Caller, review: Document, decision: str, status: int = 200) -> Document:
    return caller.post(f"{review['name']}:{decision}", {}, status=status)


def pinned(caller: Caller, *texts: str, bank: str = DEFAULT_BANK) -> tuple[Stream, Document]:
    """Say something in a new scope, pin the one memory of it, and return the stream and the memory."""
    stream = caller.stream(bank=bank)
    stream.flush(*(said(text) for text in texts))
    [memory] = caller.memories(stream.scope, bank)
    return stream, caller.call("PATCH", memory["name"], {"pinned": True})["response"]


def verdicts(caller: Caller, operation: Document) -> list[tuple[str, str]]:
    done = caller.get(operation["metadata"]["generateMemoriesOperation"])
    return [(one["verdict"], one["reason"]) for one in done["response"]["verdicts"]]


# ---- pins


def test_a_memory_is_pinned_and_unpinned(caller: Caller) -> None:
    """A memory is pinned by its creation or a PATCH in either spelling, is found by the filter, and says so."""
    scope = caller.scope()
    made = caller.post(f"{DEFAULT_BANK}/memories", {"scope": scope, "fact": "Has bees.", "pinned": True})["response"]
    other = caller.post(f"{DEFAULT_BANK}/memories", {"scope": scope, "fact": "Has hens."})["response"]
    assert (made["pinned"], other.get("pinned")) == (True, None)
    assert caller.get(made["name"])["pinned"] is True

    def listed(filter_text: str) -> list[str]:
        named = f'scope.user_id="{scope["user_id"]}" AND {filter_text}'
        return [
            one["name"]
            for [*page] in pages(caller, f"{DEFAULT_BANK}/memories", "memories", filter=named)
            for one in page
        ]

    assert (listed("pinned=true"), listed("pinned=false"), listed("pinned:*")) == (
        [made["name"]],
        [other["name"]],
        [made["name"]],
    )
    rows = caller.retrieve(scope, filter="NOT pinned=true")
    assert [row["memory"]["name"] for row in rows] == [other["name"]]
    caller.get(f"{DEFAULT_BANK}/memories", params={"filter": 'pinned="yes"'}, status=400)
    unpinned = caller.call("PATCH", made["name"], {}, params={"updateMask": "pinned"})["response"]
    assert "pinned" not in unpinned
    assert unpinned["fact"] == "Has bees."
    wrong = caller.call("PATCH", made["name"], {"pinned": "yes"}, status=400)["error"]
    assert wrong["details"][0]["fieldViolations"][0]["field"] == "pinned"
    assert [one["fact"] for one in caller.revisions(made)] == ["Has bees."], "a pin makes no revision"


def test_a_contradiction_of_a_pinned_memory_waits(caller: Caller) -> None:
    """The pinned text stays, the verdict says why, and a review has all that a person needs to decide."""
    stream, memory = pinned(caller, BLUE)
    operation = stream.flush(said(GREEN, "green"))
    assert [one["fact"] for one in caller.memories(stream.scope)] == [memory["fact"]]
    assert verdicts(caller, operation) == [("REJECTED", "waits for review: the memory is pinned")]
    [review] = reviews(caller, stream.scope)
    assert (review["state"], review["action"], review["cause"]) == ("OPEN", "UPDATE", "PINNED")
    assert "green" in review["fact"]
    assert "green" in review["extractedFact"]
    assert review["scope"] == stream.scope
    assert [one["fact"] for one in review["memories"]] == [memory["fact"]]
    assert review["operation"] == operation["name"]
    assert review["createTime"] < review["expireTime"]
    assert reviews(caller, stream.scope, filter='action="DELETE"') == []


def test_an_accepted_review_changes_the_pinned_memory(caller: Caller) -> None:
    """The text changes with a revision and a source, the memory stays pinned, and a repeat answers the same."""
    stream, memory = pinned(caller, BLUE)
    stream.flush(said(GREEN, "green"))
    [review] = reviews(caller, stream.scope)
    done = decide(caller, review, "accept")
    changed = caller.get(memory["name"])
    assert changed["fact"] == review["fact"]
    assert changed["pinned"] is True
    assert [one["eventIds"] for one in changed["sources"] if "eventIds" in one] == [["green"]]
    assert [one["fact"] for one in caller.revisions(changed)] == [review["fact"], memory["fact"]]
    assert (done["state"], [one["name"] for one in done["memories"]]) == ("ACCEPTED", [memory["name"]])
    assert "fact" not in done
    assert decide(caller, review, "accept") == done
    assert decide(caller, review, "reject", status=400)["error"]["status"] == "FAILED_PRECONDITION"
    assert reviews(caller, stream.scope) == []
    assert caller.find(stream.scope, "green") == [review["fact"]]


def test_a_rejected_review_changes_nothing(caller: Caller) -> None:
    """A rejection leaves the memory; what is said anew afterwards is proposed anew."""
    stream, memory = pinned(caller, BLUE)
    stream.flush(said(GREEN))
    [review] = reviews(caller, stream.scope)
    done = decide(caller, review, "reject")
    assert (done["state"], decide(caller, review, "reject")) == ("REJECTED", done)
    assert decide(caller, review, "accept", status=400)["error"]["status"] == "FAILED_PRECONDITION"
    assert (caller.facts(stream.scope), reviews(caller, stream.scope)) == ([memory["fact"]], [])
    stream.flush(said(GREEN))
    assert [one["name"] for one in reviews(caller, stream.scope)] == [review["name"]]


def test_the_same_proposal_is_one_review(caller: Caller) -> None:
    """What is said twice waits once, with the evidence of both, which the acceptance cites."""
    stream, memory = pinned(caller, BLUE)
    stream.flush(said(GREEN, "first"))
    stream.flush(said(GREEN, "second"))
    [review] = reviews(caller, stream.scope)
    decide(caller, review, "accept")
    sources = caller.get(memory["name"])["sources"]
    assert [one["eventIds"] for one in sources if "eventIds" in one] == [["first"], ["second"]]


def test_a_conversation_forgets_a_pinned_memory_with_consent_alone(caller: Caller) -> None:
    """A request to forget waits; its acceptance deletes the memory, and what was said before does not come back."""
    stream, memory = pinned(caller, "I am allergic to peanuts.")
    stream.flush(said("Please forget that I am allergic to peanuts."))
    [review] = reviews(caller, stream.scope)
    assert (review["action"], caller.facts(stream.scope)) == ("DELETE", [memory["fact"]])
    done = decide(caller, review, "accept")
    assert (done.get("memories"), caller.facts(stream.scope)) == (None, [])
    assert decide(caller, review, "accept") == done
    caller.post(f"{memory['name']}:rollback", {"targetRevisionId": "1"})
    assert caller.facts(stream.scope) == [memory["fact"]]


def test_a_repetition_is_evidence_of_a_pinned_memory(caller: Caller) -> None:
    """A pinned memory that is said again has one source more, and is as it was otherwise."""
    stream, memory = pinned(caller, BLUE)
    operation = stream.flush(said(BLUE, "again"), metadata={"mood": {"string_value": "good"}})
    assert [verdict for verdict, _ in verdicts(caller, operation)] == ["UNCHANGED"]
    [now] = caller.memories(stream.scope)
    assert len(now.pop("sources")) == len(memory.pop("sources")) + 1
    assert now == memory


def test_the_owner_changes_a_pinned_memory(caller: Caller) -> None:
    """A pin stops generations alone: a PATCH, a deletion and a purge do what they say."""
    _, memory = pinned(caller, BLUE)
    changed = caller.call("PATCH", memory["name"], {"fact": "Likes blue."})["response"]
    assert (changed["fact"], changed["pinned"]) == ("Likes blue.", True)
    caller.delete(memory["name"])
    caller.get(memory["name"], status=404)
    stream, _ = pinned(caller, BLUE)
    purge = {"filter": f'scope.user_id="{stream.scope["user_id"]}"', "force": True}
    assert caller.post(f"{DEFAULT_BANK}/memories:purge", purge)["response"]["purgeCount"] == 1


def test_a_change_meanwhile_refuses_the_acceptance(caller: Caller) -> None:
    """A review of another text is refused with the reason, and may be rejected; a pin or a name is no other text."""
    stream, memory = pinned(caller, BLUE)
    stream.flush(said(GREEN))
    [review] = reviews(caller, stream.scope)
    caller.call("PATCH", memory["name"], {"pinned": False, "displayName": "Color"})
    caller.call("PATCH", memory["name"], {"fact": "My favorite color is red."})
    refused = decide(caller, review, "accept", status=400)["error"]
    assert (refused["status"], "has changed" in refused["message"]) == ("FAILED_PRECONDITION", True)
    assert caller.facts(stream.scope) == ["My favorite color is red."]
    caller.call("PATCH", memory["name"], {"fact": memory["fact"]})
    decide(caller, review, "accept")
    assert caller.facts(stream.scope) == [review["fact"]]


def test_a_deleted_memory_takes_its_reviews_along(caller: Caller) -> None:
    """A review is in no list at once, cannot be decided, and its text is gone after the next sweep."""
    stream, memory = pinned(caller, BLUE)
    stream.flush(said("My favorite color is vermilion."))
    [review] = reviews(caller, stream.scope)
    caller.delete(memory["name"])
    assert reviews(caller, stream.scope) == []
    for decision in ("accept", "reject"):
        decide(caller, review, decision, status=404)
    caller.recover()
    partition = f"C#default#{review['name'].rsplit('/', 1)[-1].split('-')[0]}"
    assert not [item for item in caller.items(partition) if item["SK"]["S"].startswith("Q#")]


def test_a_stated_memory_does_not_change_a_pinned_one(caller: Caller) -> None:
    """A direct memory that contradicts it waits, cites no event, and is proposed anew after a rejection."""
    stream, memory = pinned(caller, BLUE)
    direct = {"scope": stream.scope, "directMemoriesSource": {"directMemories": [{"fact": GREEN}]}}
    for decision in ("reject", "accept"):
        caller.post(f"{DEFAULT_BANK}/memories:generate", direct)
        caller.settle()
        assert caller.facts(stream.scope) == [memory["fact"]]
        [review] = reviews(caller, stream.scope)
        assert review["cause"] == "PINNED"
        decide(caller, review, decision)
    assert caller.facts(stream.scope) == [review["fact"]]


def test_batches_pin_and_unpin(caller: Caller) -> None:
    """A batch creates pinned memories, and unpins them."""
    new = {"memory": {"scope": caller.scope(), "fact": "Has bees.", "pinned": True}}
    [made] = caller.post(f"{DEFAULT_BANK}/memories:batchCreate", {"requests": [new]})["results"]
    assert made["memory"]["pinned"] is True
    change = {"memory": {"name": made["memory"]["name"], "pinned": False}}
    [changed] = caller.post(f"{DEFAULT_BANK}/memories:batchUpdate", {"requests": [change]})["results"]
    assert "pinned" not in changed["memory"]


# ---- policies


def test_a_policy_lets_new_memories_wait(caller: Caller) -> None:
    """What a bank wants reviewed is not remembered until it is accepted, and then with its topics and source."""
    bank = caller.bank(review_policy={"actions": ["CREATED"]})
    stream = caller.stream(bank=bank)
    operation = stream.flush(said("I keep bees.", "bees"))
    assert verdicts(caller, operation) == [("REJECTED", "waits for review: the bank's policy names it")]
    assert caller.facts(stream.scope, bank) == []
    [review] = reviews(caller, stream.scope, bank)
    assert (review["action"], review["cause"], review.get("memories")) == ("CREATE", "POLICY", None)
    done = decide(caller, review, "accept")
    [memory] = caller.memories(stream.scope, bank)
    assert done["memories"][0]["name"] == memory["name"]
    assert (memory["fact"], memory["topics"]) == (review["fact"], review["topics"])
    assert caller.get(memory["name"])["sources"][0]["eventIds"] == ["bees"]
    assert "pinned" not in memory
    direct = {"scope": stream.scope, "directMemoriesSource": {"directMemories": [{"fact": "I have a dog."}]}}
    caller.post(f"{bank}/memories:generate", direct)
    caller.post(f"{bank}/memories", {"scope": stream.scope, "fact": "I have a cat."})
    caller.settle()
    assert len(caller.facts(stream.scope, bank)) == 3, "what callers state is not reviewed"


def test_a_policy_names_topics(caller: Caller) -> None:
    """With topics, only what belongs to one of them waits; a policy that is taken off lets all pass."""
    preferences = [{"managed_memory_topic": "USER_PREFERENCES"}]
    bank = caller.bank(review_policy={"actions": ["CREATED", "UPDATED", "DELETED"], "topics": preferences})
    stream = caller.stream(bank=bank)
    stream.flush(said("I love green tea."), said("My name is Anna."))
    [review] = reviews(caller, None, bank)
    assert "tea" in review["fact"]
    assert [one["managedMemoryTopic"] for one in review["topics"]] == ["USER_PREFERENCES"]
    assert len(caller.facts(stream.scope, bank)) == 1


def test_a_policy_lets_deletions_wait(caller: Caller) -> None:
    """A memory that is not pinned may wait to be forgotten too."""
    bank = caller.bank(review_policy={"actions": ["DELETED"]})
    stream = caller.stream(bank=bank)
    stream.flush(said(BLUE))
    stream.flush(said(GREEN))
    [fact] = caller.facts(stream.scope, bank)
    assert "green" in fact
    stream.flush(said("Please forget my favorite color."))
    [review] = reviews(caller, stream.scope, bank)
    assert (review["action"], caller.facts(stream.scope, bank)) == ("DELETE", [fact])


@pytest.mark.parametrize(
    ("policy", "field"),
    [
        ({"actions": ["MERGED"]}, "actions[0]"),
        ({"actions": "CREATED"}, "actions"),
        ({"topics": [{"managedMemoryTopic": "A", "customMemoryTopicLabel": "b"}]}, "topics[0]"),
        ({"verdicts": []}, "verdicts"),
    ],
)
def test_a_wrong_policy_is_refused(caller: Caller, policy: Document, field: str) -> None:
    """A configuration is refused by the path of the field that breaks a rule."""
    body = {"contextSpec": {"memoryBankConfig": {"reviewPolicy": policy}}}
    error = caller.post(PARENT, body, status=400)["error"]
    named = error["details"][0]["fieldViolations"][0]["field"]
    assert named == f"contextSpec.memoryBankConfig.reviewPolicy.{field}"


# ---- lists


def test_the_reviews_of_a_bank_are_paged(caller: Caller) -> None:
    """A bank-wide list has each review on one page, newest first, of this bank alone."""
    bank = caller.bank(review_policy={"actions": ["CREATED"]})
    streams = [caller.stream(bank=bank) for _ in range(3)]
    for stream in streams:
        stream.flush(said("I keep bees."), said("I drive a van."))
    paged = pages(caller, f"{bank}/memories:reviews", "reviews", pageSize="2")
    found = [one for page in paged for one in page]
    assert len(found) == 6
    assert len({one["name"] for one in found}) == 6
    assert all(len(page) <= 2 for page in paged)
    times = [one["createTime"] for one in found]
    assert times == sorted(times, reverse=True)
    own = pages(
        caller,
        f"{bank}/memories:reviews",
        "reviews",
        pageSize="1",
        filter=f'scope.user_id="{streams[0].scope["user_id"]}"',
    )
    assert len([one for page in own for one in page]) == 2


@pytest.mark.parametrize("name", ["x", "0" * 54, "..", "a" * 26 + "-0" + "a" * 26, "a#b"])
def test_an_unknown_review_is_not_found(caller: Caller, name: str) -> None:
    """A name that is no review's is 404, whatever it is."""
    for decision in ("accept", "reject"):
        caller.post(f"{DEFAULT_BANK}/memories:reviews/{name.replace('#', '%23')}:{decision}", {}, status=404)


def test_a_review_of_another_bank_is_not_found(caller: Caller) -> None:
    """The name of a review belongs to its bank."""
    stream, _ = pinned(caller, BLUE)
    stream.flush(said(GREEN))
    [review] = reviews(caller, stream.scope)
    other = review["name"].replace(DEFAULT_BANK, caller.bank())
    caller.post(f"{other}:accept", {}, status=404)


def test_an_erasure_takes_reviews_along(caller: Caller) -> None:
    """A dry run counts the reviews of a scope, and after the erasure nothing of them is stored."""
    stream, _ = pinned(caller, BLUE)
    stream.flush(said("My favorite color is vermilion."))
    [review] = reviews(caller, stream.scope)
    body: dict[str, Any] = {"scope": stream.scope}
    would = caller.post(f"{DEFAULT_BANK}:eraseScope", {**body, "dryRun": True})["response"]["wouldErase"]
    done = caller.post(f"{DEFAULT_BANK}:eraseScope", body)["response"]["erased"]
    assert (would["reviews"], done["reviews"]) == (1, 1)
    assert reviews(caller, stream.scope) == []
    decide(caller, review, "accept", status=404)
