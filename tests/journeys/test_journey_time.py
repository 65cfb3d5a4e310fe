"""Memories with time: when they held, what was true at a time, and what was known by then."""

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from tests.journeys.caller import DEFAULT_BANK, said

GRAZ, LINZ = "I live in Graz", "I live in Linz"


def day(number: int) -> str:
    return f"2020-03-{number:02}T12:00:00Z"


def at(caller, scope, as_of=None, known=None, **options):
    """Return the reply of a retrieval as of the past."""
    times = {name: value for name, value in (("asOf", as_of), ("knownAsOf", known)) if value}
    return caller.post(f"{DEFAULT_BANK}/memories:retrieve", {"scope": scope, **times, **options})


def facts(reply):
    return sorted(row["memory"].get("fact", "") for row in reply["retrievedMemories"])


@pytest.fixture
def moved(caller):
    """A scope that lived in Graz from the 2nd, and in Linz from the 9th; what was known in between."""
    stream = caller.stream()
    stream.flush(said(GRAZ, at=day(2)))
    known = caller.memories(stream.scope)[0]["createTime"]
    caller.advance(seconds=60)
    stream.flush(said(LINZ, at=day(9)))
    return stream, known


def test_a_change_of_the_world_closes_the_older_text(caller, moved):
    """Each text is there from its evidence until that of the next, before that nothing is, and today the newest."""
    stream, known = moved
    assert [facts(at(caller, stream.scope, day(number))) for number in (1, 2, 8, 9)] == [[], [GRAZ], [GRAZ], [LINZ]]
    assert facts(at(caller, stream.scope, known=known)) == [GRAZ]
    assert facts(at(caller, stream.scope, day(10), known)) == [GRAZ]
    assert facts(at(caller, stream.scope, known=day(20))) == []
    assert caller.facts(stream.scope) == [LINZ]


def test_a_past_memory_names_its_revision(caller, moved):
    """It has the text, the times and the name of the revision, which can be read."""
    stream, _ = moved
    reply = at(caller, stream.scope, day(5))
    [row] = reply["retrievedMemories"]
    revision = caller.get(row["memory"]["revision"])
    assert (revision["fact"], revision["eventTime"]) == (GRAZ, day(2))
    assert row["memory"]["eventTime"] == day(2)
    assert row["memory"]["updateTime"] == revision["createTime"]
    assert "sources" not in row["memory"]
    assert reply["historyStartTime"] == day(2)
    assert "historyStartTime" not in at(caller, stream.scope)


def test_every_form_of_retrieval_looks_back(caller, moved):
    """A search compares the texts of the time, a page goes on in it, a filter reads its values, profiles too."""
    stream, known = moved
    caller.stream(stream.scope, "other").flush(said("My cat is called Tom", at=day(3)))
    search = {"similaritySearchParams": {"search_query": "Where in Graz?", "top_k": 1}}
    [found] = at(caller, stream.scope, day(5), **search)["retrievedMemories"]
    assert found["memory"]["fact"] == GRAZ
    assert found["distance"] < 1
    first = at(caller, stream.scope, day(5), simpleRetrievalParams={"page_size": 1})
    page = {"page_size": 1, "page_token": first["nextPageToken"]}
    second = at(caller, stream.scope, day(5), simpleRetrievalParams=page)
    assert sorted(facts(first) + facts(second)) == sorted([GRAZ, "My cat is called Tom"])
    caller.post(
        f"{DEFAULT_BANK}/memories:retrieve",
        {"scope": stream.scope, "asOf": day(6), "simpleRetrievalParams": page},
        status=400,
    )
    assert facts(at(caller, stream.scope, day(5), filter='fact=~"Graz"')) == [GRAZ]
    assert facts(at(caller, stream.scope, day(5), filter='fact=~"Linz"')) == []
    body = {"scope": stream.scope, "asOf": day(5), "knownAsOf": known}
    assert "profiles" not in caller.post(f"{DEFAULT_BANK}/memories:retrieveProfiles", body)


def test_a_search_of_the_past_finds_no_later_event(caller, moved):
    """Raw events are those of the time, and no quoted turn of a later one finds a memory."""
    stream, known = moved
    search = {"similaritySearchParams": {"search_query": "Linz", "top_k": 9, "include_events": True, "explain": True}}
    reply = at(caller, stream.scope, day(5), **search)
    assert "Linz" not in str(reply)
    assert len(reply["retrievedEvents"]) == 1
    assert "Linz" not in str(at(caller, stream.scope, known=known, **search))


def test_words_say_until_when(caller):
    """ "Until Friday" is a time: the memory is over then for a question of that time, and stays for one of today."""
    stream = caller.stream()
    stream.flush(said("I stay in Rome until Friday.", at="2020-03-04T12:00:00Z"))
    [memory] = caller.memories(stream.scope)
    assert memory["validUntil"] == "2020-03-06T23:59:59Z"
    assert len(facts(at(caller, stream.scope, "2020-03-06T20:00:00Z"))) == 1
    assert facts(at(caller, stream.scope, "2020-03-07T00:00:00Z")) == []
    over = {"scope": stream.scope, "filter": 'NOT valid_until<"2020-04-01T00:00:00Z"'}
    assert caller.post(f"{DEFAULT_BANK}/memories:retrieve", over)["retrievedMemories"] == []


def test_a_correction_replaces_what_was_said(caller):
    """ "I meant" says that the older text was never true; what was known then is still told."""
    stream = caller.stream()
    stream.flush(said(GRAZ, at=day(2)))
    known = caller.memories(stream.scope)[0]["createTime"]
    caller.advance(seconds=60)
    stream.flush(said("No, I meant Linz.", at=day(9)))
    assert caller.facts(stream.scope) == [LINZ]
    assert facts(at(caller, stream.scope, day(5))) == [LINZ]
    assert facts(at(caller, stream.scope, day(5), known)) == [GRAZ]
    [memory] = caller.memories(stream.scope)
    assert [one.get("correction") for one in caller.revisions(memory)] == [True, None]


def test_callers_set_when_a_memory_holds(caller):
    """Create, batch, direct memories and PATCH take both ends; an end before the start is refused by its name."""
    scope = caller.scope()
    body = {"scope": scope, "fact": "I rent a flat", "validFrom": day(1), "validUntil": day(20)}
    made = caller.post(f"{DEFAULT_BANK}/memories", body)["response"]
    assert (made["validFrom"], made["validUntil"]) == (day(1), day(20))
    name = made["name"]
    changed = caller.call("PATCH", f"{name}?updateMask=validUntil", {"validUntil": day(25)})["response"]
    assert (changed["validFrom"], changed["validUntil"]) == (day(1), day(25))
    opened = caller.call("PATCH", f"{name}?updateMask=valid_until", {})["response"]
    assert "validUntil" not in opened
    error = caller.call("PATCH", name, {"validUntil": day(1)}, status=400)
    assert "validUntil" in str(error)
    error = caller.post(f"{DEFAULT_BANK}/memories", body | {"validUntil": day(1)}, status=400)
    assert "validUntil" in str(error)
    batch = {"requests": [{"memory": body | {"fact": "I rent a car"}}]}
    [result] = caller.post(f"{DEFAULT_BANK}/memories:batchCreate", batch)["results"]
    assert result["memory"]["validUntil"] == day(20)
    direct = {"directMemories": [{"fact": "I rent a boat", "validFrom": day(3)}]}
    caller.post(f"{DEFAULT_BANK}/memories:generate", {"scope": scope, "directMemoriesSource": direct})
    caller.settle()
    [boat] = [one for one in caller.memories(scope) if "boat" in one["fact"]]
    assert boat["validFrom"] == day(3)


def test_lists_are_ordered_by_the_new_times(caller):
    """Each of the three times orders a list and a retrieval over pages; what has no value comes last."""
    scope = caller.scope()
    for number in (3, 1, 2):
        body = {"scope": scope, "fact": f"number {number}", "validFrom": day(number)}
        caller.post(f"{DEFAULT_BANK}/memories", body)
    caller.post(f"{DEFAULT_BANK}/memories", {"scope": scope, "fact": "number 4"})
    listed, token = [], ""
    query = f"filter=scope.user_id%3D%22{scope['user_id']}%22&orderBy=valid_from desc&pageSize=1"
    for _ in range(4):
        page = caller.get(f"{DEFAULT_BANK}/memories?{query}&pageToken={token}")
        listed += [one["fact"] for one in page["memories"]]
        token = page.get("nextPageToken", "")
    assert listed == ["number 3", "number 2", "number 1", "number 4"]
    params = {"page_size": 9, "order_by": "valid_from"}
    rows = caller.retrieve(scope, simpleRetrievalParams=params)
    assert [row["memory"]["fact"] for row in rows] == ["number 1", "number 2", "number 3", "number 4"]
    rows = caller.retrieve(scope, filter=f'event_time>"{day(1)}" AND valid_from<"{day(2)}"')
    assert [row["memory"]["fact"] for row in rows] == ["number 1"]


def test_a_scope_with_nothing_has_no_history(caller):
    """Before anything was known the answer is an empty list."""
    reply = at(caller, caller.scope(), day(1), day(1))
    assert reply == {"retrievedMemories": []}


def test_a_deleted_memory_is_in_no_past(caller, moved):
    """I9: deleted and forgotten memories are shown as of no time."""
    stream, known = moved
    [memory] = caller.memories(stream.scope)
    caller.delete(memory["name"])
    assert facts(at(caller, stream.scope, day(5))) == facts(at(caller, stream.scope, known=known)) == []


@pytest.mark.slow
@examples(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from(("I live in", "I work in")), st.sampled_from(("Graz", "Linz")), st.integers(1, 4)),
        min_size=2,
        max_size=4,
    )
)
def test_the_past_is_a_replay_of_its_events(caller, history):
    """For events in any order of arrival, the past at T is what a new scope with the events until T has today."""
    stream = caller.stream()
    for words, city, number in history:
        stream.flush(said(f"{words} {city}", at=day(number)))
    for last in range(1, 5):
        replay = caller.stream()
        for words, city, number in history:
            if number <= last:
                replay.flush(said(f"{words} {city}", at=day(number)))
        assert facts(at(caller, stream.scope, day(last))) == sorted(caller.facts(replay.scope))


def test_what_was_to_be_forgotten_is_in_no_past(caller):
    """Of a memory that lost a part, the texts with that part are shown as of no time, and nothing was known of them."""
    stream = caller.stream()
    stream.flush(said("I play chess with Tom and I work at Alnatura", at=day(2)))
    known = caller.memories(stream.scope)[0]["createTime"]
    caller.advance(seconds=60)
    stream.flush(said("Please forget Tom.", at=day(9)))
    for reply in (
        at(caller, stream.scope, day(5)),
        at(caller, stream.scope, known=known),
        at(caller, stream.scope, day(9)),
    ):
        assert "Tom" not in str(reply)
