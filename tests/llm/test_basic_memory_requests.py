"""Requests to forget: which sentences are some, and which facts and memories they take away."""

from __future__ import annotations

import pytest

from streambank.llm.ports import FORGET, Action, Decision
from streambank_local.basic import consolidator as reasons
from tests.llm.conversing import extracted, told
from tests.llm.deciding import decided


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("Please forget my address", "my address"),
        ("Can you forget my address?", "my address"),
        ("forget what I said about my job", "my job"),
        ("delete that memory about my ex", "my ex"),
        ("don't remember that I smoke", "I smoke"),
        ("I want you to forget that I smoke", "I smoke"),
        ("Please don't store my phone number", "my phone number"),
        ("Remove my address from your memory, please.", "my address"),
        ("One thing first: please forget what I told you about my therapist.", "my therapist"),
        ("One more thing, could you forget my address?", "my address"),
        ("Before I go - please forget my address.", "my address"),
        ("Also, before we start, can you please delete what I said about my job?", "my job"),
        ("Sorry, would you mind forgetting my address?", "my address"),
        ("I'd like you to forget my address.", "my address"),
        ("I want you to forget what I told you about my ex", "my ex"),
        ("Actually, I need you to delete everything I said about my therapist.", "everything about my therapist"),
        ("If you could forget my address, that would be great.", "my address"),
        ("Forget everything", "everything"),
        ("Vergiss meine Adresse", "meine Adresse"),
    ],
)
def test_a_request_to_forget_is_told_as_one(said: str, what: str) -> None:
    """A request to forget names what to forget, as an instruction."""
    assert [(got.fact, got.topic) for got in extracted(said)] == [(FORGET + what, "EXPLICIT_INSTRUCTIONS")]


@pytest.mark.parametrize(
    "said",
    [
        "I always forget my keys",
        "don't forget that I'm vegan",
        "forget it",
        "Forget about dinner, let's order pizza",
        "Delete the draft",
        "I forgot my password",
        "I don't remember my password",
        "Forgot my password",
        "I asked my boss to please forget my address",
        "My mother said: please forget my address",
        "I never forget my keys, please forget it",
        "I always forget my keys, never remember my bag",
        "I can relax, forget my troubles, and read",
    ],
)
def test_other_forgetting_is_no_request(said: str) -> None:
    """Talk of forgetting is not a request to forget."""
    assert not any(fact.startswith(FORGET) for fact in told(said))


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        (
            ["My address is Elm St 5.", "I work as a nurse", "forget what I said about my job"],
            ["My address is Elm St 5"],
        ),
        (["I live in Graz. I play chess.", "forget my address"], ["I play chess"]),
        (["I smoke.", "I play chess.", "don't remember that I smoke"], ["I play chess"]),
        (["I play chess.", "I live in Graz. Delete that."], ["I play chess"]),
        (["I play chess.", "I live in Graz.", "Forget everything I said"], []),
        (["forget my job", "I work as a nurse"], ["I work as a nurse"]),
        (["I live in Graz.", "I moved to Linz, so please forget my address."], ["I moved to Linz"]),
        (
            [
                "My therapist is called Doctor Maes and I have an appointment with her every Tuesday.",
                "One thing first: please forget what I told you about my therapist.",
            ],
            [],
        ),
    ],
)
def test_what_is_forgotten_is_no_fact(lines: list[str], kept: list[str]) -> None:
    """A request to forget takes earlier facts of the window with it, and no later ones."""
    assert [fact for fact in told(*lines) if not fact.startswith(FORGET)] == kept


def test_forget_that_means_the_last_fact() -> None:
    """A request without an object is about what was said last, also in an earlier window."""
    assert told("~I live in Graz.", "Please forget that.") == [f"{FORGET}I live in Graz"]


@pytest.mark.parametrize(
    ("what", "memory"),
    [
        ("my ex", "My ex lives in Rome"),
        ("I smoke", "I smoke"),
        ("my address", "I live in Graz"),
        ("where I live", "I live in Graz"),
        ("my job", "I work as a nurse"),
        ("my dog's name", "My dog is called Fen"),
        ("my dog", "My dog is called Fen"),
        ("my phone number", "My phone number is 1"),
        ("my allergy", "I'm allergic to peanuts"),
        ("the user's favorite color", "The user's favorite color is blue"),
    ],
)
def test_forgetting_deletes_what_is_meant(what: str, memory: str) -> None:
    """A request to forget deletes the memory that it fits."""
    assert decided([FORGET + what], ["I play the cello", memory])[0] == Decision(
        1, Action.DELETE, (2,), reason=reasons.FORGOTTEN
    )


@pytest.mark.parametrize(
    ("what", "memory"),
    [
        ("my wife", "I play chess"),
        ("I live in Graz", "My sister lives in Graz"),
        ("I live in Graz", "I live in Linz"),
        ("that", "I play chess"),
        ("", "I play chess"),
        ("my address", "My sister plays chess"),
    ],
)
def test_forgetting_spares_what_is_not_meant(what: str, memory: str) -> None:
    """A request that fits no memory deletes none."""
    assert decided([FORGET + what], [memory])[0] == Decision(1, Action.NONE, reason=reasons.NOTHING_TO_FORGET)


def test_forgetting_picks_the_best_match() -> None:
    """The memory of the attribute itself goes before one that only implies it."""
    assert decided([f"{FORGET}my address"], ["I live in Graz", "My address is Elm St 5"])[0].memories == (2,)
    assert decided([f"{FORGET}my job"], ["I like jobs", "I work as a nurse"])[0].memories == (2,)


def test_forgetting_everything_is_left_to_erasure() -> None:
    """No single decision can forget everything, so none is taken."""
    assert decided([f"{FORGET}everything"], ["I play chess"])[0] == Decision(1, Action.NONE, reason=reasons.TOO_BROAD)


def test_a_request_older_than_the_memory_forgets_nothing() -> None:
    """What was said again after the request stays."""
    assert decided([f"{FORGET}my ex"], ["My ex lives in Rome"], days=-1)[0].reason == reasons.SUPERSEDED


def test_a_fact_is_forgotten_within_its_request() -> None:
    """A fact is not created when a later fact of the request asks to forget it."""
    got = decided(["I live at Elm St 5", f"{FORGET}my address"], ["I play chess"])
    assert [each.action for each in got] == [Action.NONE, Action.NONE]


def test_an_update_that_is_forgotten_ends_as_a_delete() -> None:
    """A memory that one fact updates and the next asks to forget is deleted, not updated."""
    got = decided(["I moved to Linz", f"{FORGET}where I live"], ["I live in Graz"])
    assert [(each.action, each.memories) for each in got] == [(Action.NONE, (1,)), (Action.DELETE, (1,))]


def test_said_again_after_forgetting_is_new() -> None:
    """A fact that follows a request to forget is created afresh."""
    got = decided([f"{FORGET}my address", "I live in Linz"], ["I live in Graz"])
    assert [each.action for each in got] == [Action.DELETE, Action.CREATE]
