"""The basic model's small promise, over HTTP: a statement that it does not remember has a verdict with a reason."""

from __future__ import annotations

import os

import pytest

from tests.journeys.caller import Caller, Document, said

pytestmark = pytest.mark.skipif(
    bool(os.environ.get("STREAMBANK_JOURNEYS_MODEL")), reason="the reasons are the basic model's own"
)


def verdicts(caller: Caller, operation: Document) -> dict[str, str]:
    """Return what an ingest operation refused, and why."""
    done = caller.get(operation["metadata"]["generateMemoriesOperation"])
    rows: list[Document] = done["response"].get("verdicts", [])
    return {row.get("fact", ""): row.get("reason", "") for row in rows if row["verdict"] == "REJECTED"}


def generate(caller: Caller, *windows: str) -> tuple[list[str], dict[str, str]]:
    """Say one text a window in a new scope; return its facts in the end, and what the last window refused."""
    stream = caller.stream()
    for text in windows:
        operation = stream.flush(said(text))
        caller.advance(hours=1)
    return sorted(caller.facts(stream.scope)), verdicts(caller, operation)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Servus, ich heiße Jonas und lebe in Bregenz.", "Ich heiße Jonas und lebe in Bregenz"),
        ("Buenas tardes, tengo alergia a los cacahuetes.", "Tengo alergia a los cacahuetes"),
        ("Hola soy vegetariana desde 2019.", "Soy vegetariana desde 2019"),
        ("Merci Paul, je travaille comme infirmier à Lyon.", "Je travaille comme infirmier à Lyon"),
        ("您好，我住在杭州。", "我住在杭州"),
        ("Привет! Я не ем рыбу.", "Я не ем рыбу"),
    ],
)
def test_a_greeting_drops_only_itself(caller: Caller, text: str, fact: str) -> None:
    """What follows a greeting or thanks is remembered, in any language, and the greeting is not."""
    assert generate(caller, text)[0] == [fact]


@pytest.mark.parametrize("fact", ["Priya can't eat sesame", "Lukas mustn't drink milk", "Maja is allergic to kiwis"])
def test_what_somebody_must_avoid_is_remembered(caller: Caller, fact: str) -> None:
    """A sentence about what a person with a name cannot have is a fact, beside others."""
    facts, refused = generate(caller, f"I keep bees. {fact}. Dogs can't have chocolate.")
    assert facts == sorted(["I keep bees", fact])
    assert list(refused) == ["Dogs can't have chocolate"]


@pytest.mark.parametrize(
    ("before", "after", "fact"),
    [
        ("My budget is 300.", "No wait, my budget is 450.", "My budget is 450"),
        ("I live in Bergen.", "Oops, sorry, I live in Molde.", "I live in Molde"),
    ],
)
def test_a_correction_in_a_later_window_updates(caller: Caller, before: str, after: str, fact: str) -> None:
    """A corrected value replaces the one that an earlier window remembered."""
    assert generate(caller, before, after)[0] == [fact]


@pytest.mark.parametrize(
    "after",
    [
        "Scrap that, June is full. We go to Oslo.",
        "Change of plans: the hut is closed. We're going to Oslo instead.",
        "Never mind that, we're flying to Oslo.",
    ],
)
def test_a_plan_that_is_scrapped_is_replaced(caller: Caller, after: str) -> None:
    """The new plan takes the place of the old one, in another window and in the same; other memories stay."""
    before = "We plan a hike in Wales in June. I'm allergic to eggs."
    facts, _ = generate(caller, before, after)
    assert len(facts) == 2
    assert any("Oslo" in fact for fact in facts)
    assert not any("Wales" in fact for fact in facts)
    facts, refused = generate(caller, f"We plan a hike in Wales in June. {after}")
    assert len(facts) == 1
    assert refused["We plan a hike in Wales in June"] == "the user took it back"


@pytest.mark.parametrize("fact", ["My nickname is [name]", "My code is {code}", "My key is (spare)"])
def test_brackets_stay_as_they_were_said(caller: Caller, fact: str) -> None:
    """A fact that ends with a closing bracket keeps it."""
    assert generate(caller, f"{fact}.")[0] == [fact]


@pytest.mark.parametrize(
    "text", ["The cat just knocked over my vase", "My puppy is chewing my shoe", "I just spilled my soup"]
)
def test_a_moment_is_no_lasting_fact(caller: Caller, text: str) -> None:
    """What just happened is not remembered, and the verdict says so."""
    assert generate(caller, f"{text}!") == ([], {text: "small talk, or true for a moment only"})


def test_what_just_changed_for_good_is_remembered(caller: Caller) -> None:
    """News that lasts is a fact though it just happened."""
    assert generate(caller, "My cousin just moved to Kiel.")[0] == ["My cousin just moved to Kiel"]


@pytest.mark.parametrize("wish", ["Forget everything about Noor.", "Please delete all about Noor."])
def test_everything_about_a_person_goes(caller: Caller, wish: str) -> None:
    """Each memory about the person is deleted; of a memory about two things the other part stays."""
    stream = caller.stream()
    stream.flush(said("My sister Noor lives in Ghent. My sister Noor works as a nurse. I play the oboe."))
    caller.advance(hours=1)
    stream.flush(said("Noor is allergic to nuts."))
    assert len(caller.facts(stream.scope)) == 4
    caller.advance(hours=1)
    stream.flush(said(wish))
    assert caller.facts(stream.scope) == ["I play the oboe"]


@pytest.mark.parametrize(
    "pasted",
    [
        "### Summary of our chat\n- I recommended the night train\n- Plays the viola",
        "* I proposed a budget\n* The user lives in Turin",
        "Here is a recap:\n1. The assistant suggested Rome\n2. I offered to book it",
    ],
)
def test_a_pasted_summary_is_not_the_users_words(caller: Caller, pasted: str) -> None:
    """A summary within a user's turn is refused as one; what the user says around it is remembered."""
    facts, refused = generate(caller, f"I live in Pisa.\n\n{pasted}\n\nI have two cats.")
    assert facts == ["I have two cats", "I live in Pisa"]
    assert list(refused.values()) == ["not the user's own words"]


def test_a_users_own_list_is_read(caller: Caller) -> None:
    """A list in the first person is the user's own words."""
    assert generate(caller, "## About me\n* I live in Pisa\n* I'm vegan")[0] == ["I live in Pisa", "I'm vegan"]


def test_every_dropped_statement_has_a_verdict_and_courtesies_have_none(caller: Caller) -> None:
    """Greetings, thanks and questions need no verdict, other sentences do: at most 20, of 200 characters each."""
    stream = caller.stream()
    assert not verdicts(caller, stream.flush(said("Good morning! Thanks a lot. What time is it?")))
    long = "The " + "very " * 60 + "old river is wide."
    refused = verdicts(caller, stream.flush(said(long), *[said(f"The river number {n} is wide.") for n in range(30)]))
    assert len(refused) == 20
    assert max(map(len, refused)) == 200
    assert set(refused.values()) == {"not about the user or somebody of theirs"}
