"""More attributes that have one value at a time, and what does not set them."""

from __future__ import annotations

import pytest

from streambank.llm.ports import Action
from tests.llm.conversing import told
from tests.llm.deciding import decided


@pytest.mark.parametrize(
    ("fact", "memory"),
    [
        ("I moved to a flat in Leeds", "I live in York"),
        ("I started a new job at Bosch", "I work at Siemens"),
        ("I'm employed by Bosch", "I work at Siemens"),
        ("I left Siemens", "I work at Siemens"),
        ("I retired", "I work at Siemens"),
        ("I lost my job", "I work as a nurse"),
        ("I got a new number: 0699 456", "My phone number is 0664 123"),
        ("My phone number changed: it's 555 1234", "My phone number is 0664 123"),
        ("I traded my Golf for a Tesla", "I drive a Golf"),
        ("Tom and I got divorced", "I'm married to Tom"),
        ("We broke up", "My girlfriend is called Mia"),
        ("I switched to a keto diet", "I'm vegetarian"),
        ("I wear size 43 shoes", "My shoe size is 42"),
        ("My time zone is EST", "My timezone is CET"),
        ("From now on, reply in German", "Always reply in French"),
        ("Please call me Rob from now on", "Call me Bob"),
        ("My son started at Oak School", "My son goes to Elm School"),
        ("My thesis deadline moved to 15 June", "My thesis deadline is 1 June"),
        ("I go to a new gym, John Harris", "My gym is FitInn"),
        ("I switched banks, I'm with Erste now", "My bank is Raiffeisen"),
        ("I raised my budget to 800 euros", "My budget is 500 euros"),
        ("My wife became a teacher", "My wife is a nurse"),
        ("Ich wohne jetzt in Linz", "Ich wohne in Graz"),
        ("Ahora vivo en Lima", "Vivo en Quito"),
        ("Mein Hund heißt Rex", "Mein Hund heißt Bello"),
    ],
)
def test_a_new_value_takes_the_place_of_the_old(fact: str, memory: str) -> None:
    """However the new value is put, it updates the memory of the old one."""
    assert (decided([fact], [memory])[0].action, told(fact)) == (Action.UPDATE, [fact])


@pytest.mark.parametrize(
    ("fact", "memory"),
    [
        ("My car is red", "I drive a Golf"),
        ("My flight is late", "My flight is on 5 May"),
        ("My math exam is on 5 May", "My physics exam is on 3 May"),
        ("I live in Spain in winter", "I live in Graz"),
        ("I drive a truck for work", "I drive a Golf"),
        ("I start at 9", "I work at Bosch"),
        ("I joined a choir", "I work at Bosch"),
        ("I gave up golf", "I play tennis and golf"),
        ("I'm allergic to shellfish", "I'm allergic to peanuts"),
        ("I left Rome", "I work at Siemens"),
        ("I go to a big school", "I go to Elm School"),
    ],
)
def test_what_sets_no_attribute_replaces_nothing(fact: str, memory: str) -> None:
    """A colour, an occasion, another's or another kind of value leaves the memory alone."""
    assert decided([fact], [memory])[0].action is Action.CREATE


@pytest.mark.parametrize(
    "said",
    [
        "I'm just getting a coffee, brb",
        "I'm about to head out",
        "I'm cooking dinner",
        "My train is late again, ugh.",
        "I have such a headache",
        "I love this song!",
        "I don't think this answer is right",
        "I want to translate this email",
        "ERROR my.module: I/O failed",
        "I was going to buy a car but I didn't",
    ],
)
def test_what_is_over_tomorrow_is_no_fact(said: str) -> None:
    """What holds for a moment, points at the conversation, or came to nothing, is not remembered."""
    assert told(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "I'm getting married in Rome",
        "I'm making a documentary about bees",
        "I'm having a baby in summer",
        "If it rains I take the tram",
        "Unless it's winter, I cycle to work",
        "I can't eat anything with gluten",
    ],
)
def test_what_lasts_is_kept_with_its_condition(said: str) -> None:
    """Plans and habits are remembered, conditions and exceptions included."""
    assert told(said) == [said]


def test_all_about_a_job_is_one_request() -> None:
    """Each subject of a request to forget everything is one request, which the memories of all its parts fit."""
    assert told("Forget everything about my job and about my boss.") == [
        "Forget: everything about my job",
        "Forget: everything about my boss",
    ]


def test_requests_to_forget_pass_any_topics() -> None:
    """A request that names topics still gets what is to be forgotten."""
    assert told("Please forget my address.", topics=("USER_PREFERENCES",)) == ["Forget: my address"]
