"""What the basic consolidator decides about candidates and memories."""

from __future__ import annotations

from datetime import timedelta
from itertools import product

import pytest

from streambank.llm.ports import Action, ConsolidationRequest, Decision, OfferedFact, OfferedMemory, Usage
from streambank_local.basic import consolidator as reasons
from streambank_local.basic.consolidator import BasicConsolidator
from tests.llm.deciding import AT, decided

TEA = (
    "I take my tea without sugar",
    "I drink tea with no sugar",
    "No sugar in my tea, please",
    "I don't put sugar in my tea",
    "The user drinks tea without sugar",
)


@pytest.mark.parametrize(("fact", "memory"), list(product(TEA, TEA)))
def test_rewordings_of_one_habit_are_one(fact: str, memory: str) -> None:
    """However tea without sugar is put, it is known already."""
    assert decided([fact], [memory])[0] == Decision(1, Action.NONE, memories=(1,), reason=reasons.RESTATED)


@pytest.mark.parametrize(
    ("fact", "memory"),
    [
        ("Fen is my dog's name", "My dog is called Fen"),
        ("I have a dog called Fen", "My dog is called Fen"),
        ("My dog's name is Fen", "The user's dog is called Fen"),
        ("I reside in Graz", "I live in Graz"),
        ("Lives in Graz", "I live in Graz"),
        ("I live in Graz", "I live in Graz, Austria"),
        ("Green is my favourite colour", "My favorite color is green"),
        ("I have a peanut allergy", "I'm allergic to peanuts"),
        ("I'm a nurse", "I work as a nurse"),
        ("I enjoy hiking", "I love hiking"),
        ("I hate okra", "I can't stand okra"),
        ("The user loves tea", "I love tea"),
        ("I was born on 3 May 1990", "My birthday is 3 May 1990"),
        ("I don't smoke", "I quit smoking"),
        ("I play chess", "I play chess with my brother"),
        ("Siemens is my employer", "I work at Siemens"),
        ("I'm 34", "I am 34 years old"),
        ("I don't eat meat", "I'm vegetarian"),
        ("I'm vegetarian", "I don't eat meat"),
        ("I don't eat meat because of the animals", "I'm vegan"),
        ("I work from home", "I work remotely"),
        ("My sister lives in Bruges", "My sister Wies lives in Bruges"),
        ("Soy alérgica al marisco", "Soy alérgica al marisco"),
    ],
)
def test_a_restated_fact_changes_nothing(fact: str, memory: str) -> None:
    """A paraphrase names the memory that it restates."""
    assert decided([fact], [memory])[0] == Decision(1, Action.NONE, memories=(1,), reason=reasons.RESTATED)


CHANGES = [
    ("I support United now, not Rovers", "My team is Rovers"),
    ("I can't stand okra", "I love okra"),
    ("I love okra now", "I hate okra"),
    ("I moved to Linz", "I live in Graz"),
    ("I moved from Graz to Linz in May 2023", "I live in Graz"),
    ("I no longer live in Graz", "I live in Graz"),
    ("The user moved to Linz", "The user lives in Graz"),
    ("I'm a teacher", "I work as a nurse"),
    ("I work at Siemens now", "I work for Bosch"),
    ("I'm vegan", "I'm vegetarian"),
    ("I'm no longer vegan", "I'm vegan"),
    ("I'm not vegan, I'm vegetarian", "I'm vegan"),
    ("I don't live in Graz, I live in Linz", "I live in Rome"),
    ("I eat meat again", "I'm vegan"),
    ("I got divorced", "I'm married to Tom"),
    ("I'm 35", "I'm 34 years old"),
    ("My favourite colour is green", "My favorite color is blue"),
    ("My dog is called Rex", "My dog is called Fen"),
    ("My boss is Paul", "My boss is Anna"),
    ("My phone number is 123", "My phone number is 456"),
    ("My email is a@b.c", "My email is x@y.z"),
    ("My birthday is 4 May", "My birthday is 3 May"),
    ("I drive a truck", "I drive a van"),
    ("I sold the van", "I drive a van"),
    ("I prefer coffee to tea", "I prefer tea to coffee"),
    ("I quit smoking", "I smoke"),
    ("I don't have a dog", "I have a dog"),
    ("I gave up chess", "I play chess"),
    ("I have three cats", "I have two cats"),
    ("I take sugar in my tea", "I take my tea without sugar"),
    ("I take the train to work, not the bus", "I take the bus to work"),
    ("I switched from iPhone to Android", "I use an iPhone"),
    ("My sister moved to Paris", "My sister lives in Rome"),
    ("My wife is a teacher", "My wife is a nurse"),
    ("Call me Rob", "Call me Bob"),
    ("Always reply in German", "Always reply in French"),
    ("I prefer aisle seats now", "I prefer window seats"),
    ("I prefer milk chocolate now", "I prefer dark chocolate in the evening"),
    ("We moved to Antwerp last weekend", "I live in Ghent"),
    ("We moved to Antwerp on the weekend of 20 May 2023", "I live in Ghent"),
    ("The user and others moved to Antwerp in May 2023", "The user lives in Ghent"),
    ("I work at Zorgpunt now", "I work as a nurse at Saint Lucas hospital"),
    ("I work as a nurse at Zorgpunt", "I'm a nurse at Saint Lucas"),
    ("I don't drink coffee anymore", "I drink coffee before every run"),
    ("I no longer drink coffee, I switched to green tea", "I drink black coffee before every run"),
    ("I quit drinking coffee because of my heart", "I drink coffee before every run"),
    ("I gave up coffee", "I drink black coffee before every run, often with milk"),
    ("I drink coffee in the morning again", "I don't drink coffee"),
    ("The user no longer drinks coffee", "The user drinks coffee before every run"),
    ("My brother doesn't eat fish anymore", "My brother eats fish on Fridays"),
    ("My sister moved to Antwerp", "My sister Wies lives in Bruges"),
    ("My sister Wies moved to Antwerp", "My sister lives in Bruges"),
    ("I'm afraid of flying now", "I love flying"),
    ("I love flying now", "I'm afraid of flying"),
    ("My sister is afraid of flying now", "My sister likes flying"),
    ("I eat meat again", "I don't eat meat"),
    ("I don't eat meat", "I eat meat only if it is organic"),
    ("I work in an office now", "I work from home"),
    ("I work remotely now", "I work at the office"),
]


@pytest.mark.parametrize(("fact", "memory"), CHANGES)
def test_a_new_value_updates_the_memory(fact: str, memory: str) -> None:
    """A contradiction takes the place of what it contradicts."""
    assert decided([fact], [memory])[0] == Decision(1, Action.UPDATE, (1,), fact, reasons.REPLACED)


@pytest.mark.parametrize(("fact", "memory"), CHANGES)
def test_older_evidence_is_said_of_the_past(fact: str, memory: str) -> None:
    """A fact that is older than the memory is an update, which the service keeps as the past of the memory."""
    assert decided([fact], [memory], days=-1)[0] == Decision(1, Action.UPDATE, (1,), fact, reasons.SUPERSEDED)


@pytest.mark.parametrize(
    ("fact", "memory"),
    [
        ("I play chess with my brother on Sundays", "I play chess"),
        ("Plays the cello in an orchestra", "Plays the cello"),
        ("I live in Linz with Tom", "I live in Linz"),
        ("I moved to Linz in April 2023", "I live in Linz"),
        ("I work as a nurse at the county hospital", "I work as a nurse"),
    ],
)
def test_detail_enriches_the_memory(fact: str, memory: str) -> None:
    """A fact that says more than the memory replaces its text."""
    assert decided([fact], [memory])[0] == Decision(1, Action.UPDATE, (1,), fact, reasons.DETAILED)


@pytest.mark.parametrize(
    ("fact", "memory"),
    [
        ("My cat number 2 is called Tom2", "My cat number 1 is called Tom1"),
        ("I have a cat called Fluff", "I have a cat called Tom"),
        ("My cat is called Tom", "My dog is called Fen"),
        ("I play the cello", "I play chess"),
        ("I like green cars", "I like green tea"),
        ("I like tea", "I like green tea"),
        ("I like cats", "I like dogs"),
        ("I hate dogs", "I like cats"),
        ("My sister lives in Rome", "I live in Graz"),
        ("My wife is a nurse", "I'm a teacher"),
        ("I used to live in Graz", "I live in Linz"),
        ("I went to Paris in June 2024", "I went to Paris in May 2023"),
        ("Mia loves Tom", "Tom loves Mia"),
        ("I want to visit Japan", "I visited Japan"),
        ("I moved in April 2023", "I live in Graz"),
        ("I drive to work", "I drive a van"),
        ("I work from home", "I work at Siemens"),
        ("My favorite food is pizza", "My favorite color is blue"),
        ("I'm German", "My name is Ana"),
        ("I live in a small house", "I live in Graz"),
        ("I live with my sister", "My sister lives with Tom"),
        ("Rank 2 holder", "Rank 1 holder"),
        ("I drive a motorbike at weekends", "I drive a van"),
        ("I work at a bar on Saturdays", "I work at Siemens"),
        ("I work in an office on Fridays", "I work from home"),
        ("I like coffee", "I like tea"),
        ("My brother lives in Ghent", "My sister Wies lives in Bruges"),
        ("My sister Ana lives in Ghent", "My sister Wies lives in Bruges"),
        ("I prefer green cars", "I prefer green tea"),
        ("I prefer aisle seats on planes", "I prefer window seats on trains"),
        ("I like aisle seats", "I like window seats"),
        ("I don't drink milk", "I drink oat milk"),
        ("I don't drink coffee after six", "I drink coffee before every run"),
        ("I don't drink", "I drink coffee"),
        ("I don't have a car", "I have a car seat for my son"),
        ("I quit coffee shops", "I drink coffee before every run"),
        ("I'm afraid of flying", "I hate flying"),
        ("I'm afraid of spiders", "I love flying"),
        ("Me gusta el té", "Soy alérgica al marisco"),
    ],
)
def test_unlike_facts_are_kept_apart(fact: str, memory: str) -> None:
    """Facts that only share words are different memories."""
    assert decided([fact], [memory])[0] == Decision(1, Action.CREATE, text=fact, reason=reasons.NEW)


def test_the_later_fact_wins() -> None:
    """Two facts of a request that change one memory end as one update, by the later."""
    assert decided(["I live in Linz", "I live in Vienna"], ["I live in Graz"]) == [
        Decision(1, Action.NONE, (1,), reason=reasons.SUPERSEDED_BY_FACT),
        Decision(2, Action.UPDATE, (1,), "I live in Vienna", reasons.REPLACED),
    ]


def test_a_change_that_is_taken_back_changes_nothing() -> None:
    """A, B, A within a request leaves the memory as it is."""
    assert [each.action for each in decided(["I live in Linz", "I live in Graz"], ["I live in Graz"])] == [
        Action.NONE
    ] * 2


def test_contradicting_new_facts_make_one_memory() -> None:
    """Of new facts that exclude each other only the last is created, and repeats add nothing."""
    assert decided(["I live in Linz", "I live in Vienna", "I live in Vienna"], []) == [
        Decision(1, Action.NONE, reason=reasons.SUPERSEDED_BY_FACT),
        Decision(2, Action.CREATE, text="I live in Vienna", reason=reasons.NEW),
        Decision(3, Action.NONE, reason=reasons.REPEATED),
    ]


def test_time_not_position_says_which_is_later() -> None:
    """Of two facts the one said later wins, wherever it stands in the request."""
    later, earlier = (
        OfferedFact(1, "I live in Linz", None, AT + timedelta(days=2)),
        OfferedFact(2, "I live in Rome", None, AT),
    )
    request = ConsolidationRequest((later, earlier), (OfferedMemory(1, "I live in Graz", AT),))
    got = BasicConsolidator().consolidate(request).decisions
    assert [(each.fact, each.action) for each in got] == [(1, Action.UPDATE), (2, Action.NONE)]


def test_a_sister_is_known_while_there_is_one() -> None:
    """A relative without a name is the named one, unless several are known by name."""
    got = decided(["My sister moved to Antwerp"], ["My sister Wies lives in Bruges", "My sister Ana lives in Rome"])
    assert got[0].action is Action.CREATE


def test_identical_text_is_preferred() -> None:
    """Beside a memory that it contradicts, a fact still finds the one that it equals."""
    assert decided(["I live in Linz"], ["I live in Graz", "I live in Linz"])[0] == Decision(
        1, Action.NONE, (2,), reason=reasons.RESTATED
    )


def test_a_call_costs_a_call_and_its_characters() -> None:
    """Usage counts one call and the characters of facts and memories."""
    request = ConsolidationRequest((OfferedFact(1, "abc", None, AT),), (OfferedMemory(1, "defgh", AT),))
    assert BasicConsolidator().consolidate(request).usage == Usage(calls=1, characters=8)
