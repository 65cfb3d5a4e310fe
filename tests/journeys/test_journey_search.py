"""Similarity search: by words and by meaning, over facts, quoted turns, raw events and pending ones."""

from datetime import timedelta

import pytest

from streambank.model.memory import RECOVERABLE
from tests.journeys.caller import DEFAULT_BANK, said

RULE = {"event_count": 10}


@pytest.fixture
def scope(caller):
    return caller.scope()


def search(caller, scope, query, top_k=10, bank=DEFAULT_BANK, **params):
    """Return the whole reply of a search."""
    asked = {"search_query": query, "top_k": top_k, **params}
    return caller.post(f"{bank}/memories:retrieve", {"scope": scope, "similaritySearchParams": asked})


def facts(reply):
    return [row["memory"]["fact"] for row in reply["retrievedMemories"]]


def texts(reply):
    return [row["event"]["content"]["parts"][0]["text"] for row in reply["retrievedEvents"]]


def everything(reply):
    return str([reply["retrievedMemories"], reply.get("retrievedEvents")])


# ---- memories


def test_a_rare_word_finds_its_memory(caller, scope):
    """A name that means nothing to a model of vectors finds the memory that has it."""
    stream = caller.stream(scope)
    stream.flush(*map(said, ["My cat is called Xerxolino", "I live in Graz", "I work as a vet", "I like my dog"]))
    reply = search(caller, scope, "Who is Xerxolino?", 2)
    assert "Xerxolino" in facts(reply)[0]
    near, far = (row["distance"] for row in reply["retrievedMemories"])
    assert 0 <= near < far <= 2


def test_meaning_finds_a_memory_without_a_common_word(caller, scope):
    """A query that shares no word with any memory is answered by meaning alone."""
    caller.stream(scope).flush(*map(said, ["I play the piano", "I live in Graz", "I work as a nurse"]))
    assert "piano" in facts(search(caller, scope, "musical instruments", 1))[0]


def test_a_quoted_turn_finds_its_memory(caller, scope):
    """Words that were said, and that the fact leaves out, find the memory; it names where it comes from."""
    operation = caller.stream(scope).flush(said("By the way, gosh, I live in Graz now. Such a kerfuffle!"))
    caller.stream(scope, "other").flush(said("I like tea"))
    found = search(caller, scope, "kerfuffle", 1)["retrievedMemories"][0]
    assert "kerfuffle" not in found["memory"]["fact"]
    assert "Graz" in found["memory"]["fact"]
    assert found["memory"]["sources"] == [{"operation": operation["name"], "sequences": [1]}]


def test_a_ranking_is_taken_apart_where_that_is_requested(caller, scope):
    """With `explain` each hit has the parts of its score and the turns that matched; without it nothing is added."""
    operation = caller.stream(scope).flush(said("By the way, gosh, I live in Graz now. Such a kerfuffle!"))
    caller.stream(scope, "other").send(said("No kerfuffle here"), rule=RULE)
    assert "explanation" not in search(caller, scope, "kerfuffle")["retrievedMemories"][0]
    reply = search(caller, scope, "A kerfuffle?", explain=True, include_pending=True)
    [memory], [event] = reply["retrievedMemories"], reply["retrievedEvents"]
    explained = memory["explanation"]
    assert explained["matchedWords"] == event["explanation"]["matchedWords"] == ["kerfuffle"]
    assert explained["matchedTurns"]["operation"] == operation["name"]
    assert "kerfuffle" in explained["matchedTurns"]["text"]
    assert 0 < explained["wordShare"] <= 1
    assert -1 <= explained["similarity"] <= 1
    assert memory["distance"] == pytest.approx((2 - 2 * explained["score"]) ** 0.5)


def test_an_expired_quotation_finds_nothing(caller, scope):
    """When the events' time is over the memory stays, but what was said does not find it any more."""
    caller.stream(scope).flush(said("By the way, gosh, I live in Graz now. Such a kerfuffle!"))
    [before] = search(caller, scope, "kerfuffle")["retrievedMemories"]
    caller.pass_unseen(days=91)
    reply = search(caller, scope, "kerfuffle", include_events=True)
    [after] = reply["retrievedMemories"]
    assert after["memory"]["fact"] == before["memory"]["fact"]
    assert after["distance"] > before["distance"]
    assert texts(reply) == []


def test_a_deleted_memory_is_found_by_no_path(caller, scope):
    """Neither its fact nor what it quoted brings it back, before the sweep and after it."""
    caller.stream(scope).flush(said("By the way, gosh, I live in Graz now. Such a kerfuffle!"))
    [memory] = caller.memories(scope)
    caller.delete(memory["name"])
    for wait in (timedelta(), timedelta(minutes=2), RECOVERABLE):
        caller.advance(seconds=wait.total_seconds())
        for query in ("kerfuffle", "Graz", "Where do I live?"):
            assert search(caller, scope, query)["retrievedMemories"] == []
    assert not [item for item in caller.items() if item["SK"]["S"].startswith(f"T#{memory['name'].split('/')[-1]}#")]


# ---- events


def test_raw_events_are_found_where_they_are_asked_for(caller, scope):
    """Both kinds stand in one ranking; what was said and made no memory is found as it was said."""
    at = "2026-01-02T03:04:05Z"
    stream = caller.stream(scope, "talk")
    stream.flush(said("I live in Graz"), said("Does the zeppelin land today?", "q1", role="model", at=at))
    assert "retrievedEvents" not in search(caller, scope, "zeppelin")
    reply = search(caller, scope, "When does the zeppelin land?", include_events=True)
    [event] = [row for row in reply["retrievedEvents"] if row["sequence"] == 2]
    content = {"role": "model", "parts": [{"text": "Does the zeppelin land today?"}]}
    assert event["event"] == {"eventId": "q1", "eventTime": at, "content": content}
    assert (event["streamId"], event["window"], event["pending"]) == ("talk", 1, False)
    assert event["distance"] < min(row["distance"] for row in reply["retrievedMemories"])


def test_an_event_is_not_repeated_beside_the_memory_that_cites_it(caller, scope):
    """A memory that is at least as near as its turn stands for it."""
    caller.stream(scope).flush(said("I live in Graz"), said("Hello there"))
    reply = search(caller, scope, "Where in Graz do I live?", include_events=True)
    assert len(reply["retrievedMemories"]) == 1
    best = reply["retrievedMemories"][0]
    assert all(row["sequence"] != 1 or row["distance"] < best["distance"] for row in reply["retrievedEvents"])


def test_c19_pending_events_are_found_and_marked(caller, scope):
    """An event that waits for its window is found at once where pending ones are asked for, and says so (C19)."""
    stream = caller.stream(scope)
    stream.flush(said("I live in Graz"))
    stream.send(said("I adopted an iguana", "e9"), rule=RULE)
    assert search(caller, scope, "iguana", include_events=True)["retrievedEvents"][0]["sequence"] == 1
    reply = search(caller, scope, "iguana", include_pending=True)
    [event] = reply["retrievedEvents"]
    assert (event["event"]["eventId"], event["pending"], event["sequence"], event["window"]) == ("e9", True, 2, 2)
    both = search(caller, scope, "iguana", include_events=True, include_pending=True)["retrievedEvents"]
    assert [row["pending"] for row in sorted(both, key=lambda row: row["sequence"])] in ([False, True], [True])
    stream.flush()
    assert search(caller, scope, "iguana", include_pending=True)["retrievedEvents"] == []
    assert any("iguana" in fact for fact in facts(search(caller, scope, "iguana")))


def test_a_scope_without_memories_has_pending_events(caller, scope):
    """What was said a moment ago is found though nothing was ever generated in its scope."""
    caller.stream(scope).send(said("I adopted an iguana"), rule=RULE)
    reply = search(caller, scope, "pets", include_pending=True)
    assert reply["retrievedMemories"] == []
    assert texts(reply) == ["I adopted an iguana"]
    assert search(caller, scope, "pets") == {"retrievedMemories": []}


def test_events_of_other_scopes_are_never_shown(caller, scope):
    """Not of another user, not of a scope with more or fewer keys (I8)."""
    more = {**scope, "team": "x"}
    for number, other in enumerate([caller.scope(), more]):
        caller.stream(other).flush(said("I keep an iguana in Linz"))
        caller.stream(other, f"open-{number}").send(said("I adopted an iguana"), rule=RULE)
    caller.stream(scope).flush(said("I live in Graz"))
    reply = search(caller, scope, "iguana", include_events=True, include_pending=True)
    assert "iguana" not in everything(reply)
    assert "iguana" in everything(search(caller, more, "iguana", include_events=True))


def test_memories_and_events_share_the_results(caller, scope):
    """The number that is asked for is that of both together, and a cap is told."""
    caller.stream(scope).flush(*(said(f"Well, number {n} then") for n in range(30)), said("I live in Graz"))
    reply = search(caller, scope, "number", 5, include_events=True)
    assert len(reply["retrievedMemories"]) + len(reply["retrievedEvents"]) == 5
    asked = {"search_query": "number", "top_k": 5_000, "include_events": True}
    url = f"/v1beta1/{DEFAULT_BANK}/memories:retrieve"
    raw = caller.client.post(url, json={"scope": scope, "similaritySearchParams": asked})
    assert raw.headers["x-streambank-effective-top-k"] == "100"
    assert "x-streambank-events-looked-at" not in raw.headers
