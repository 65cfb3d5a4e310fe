"""Whom and what pronouns mean."""

from __future__ import annotations

import pytest

from tests.llm.conversing import extracted, told


@pytest.mark.parametrize(
    ("lines", "fact"),
    [
        (["My uncle Bert has a boat. He takes us sailing."], "My uncle Bert takes us sailing"),
        (["My sister lives in Rome. She's a nurse."], "My sister is a nurse"),
        (["My sister lives in Rome. She's got two dogs."], "My sister has got two dogs"),
        (["My parents are retired. They've moved to Spain."], "My parents have moved to Spain"),
        (["We adopted two kittens. They're called Salt and Pepper."], "My kittens are called Salt and Pepper"),
        (["My parents live in Ghent. Their house is huge."], "My parents' house is huge"),
        (["My laptop is broken. It needs a new battery."], "My laptop needs a new battery"),
        (["We bought a house in Leeds. It has a big garden."], "My house has a big garden"),
        (["I have a dog called Fen. He's three."], "My dog Fen is three"),
        (["My cello is old. I play it every day."], "I play my cello every day"),
        (["My brother Tom is here.", ">Hi Tom!", "He plays the drums."], "My brother Tom plays the drums"),
        (["I met Anna at the gym. She wants to go hiking with me."], "Anna wants to go hiking with me"),
        (["~My sister Wies lives in Bruges.", "She works as a florist."], "My sister Wies works as a florist"),
    ],
)
def test_a_clear_pronoun_is_told_by_its_noun(lines: list[str], fact: str) -> None:
    """A pronoun after one person or thing that it fits, in the turn or the turn before, is told by that noun."""
    assert told(*lines)[-1] == fact


@pytest.mark.parametrize(
    "lines",
    [
        ["My brother met my boss. He is moving to Rome."],
        ["My neighbour hates my dog. He barks all night."],
        ["My mother lives in Cologne. He plays golf."],
        ["My sister lives in Rome. It is lovely."],
        ["My house has a garden. It is big."],
        ["My sister lives in Rome.", ">And your brother?", "She plays the drums."],
        ["My sister lives in Rome.", ">I met Anna there.", "She plays the drums."],
        ["My sister lives in Rome. Do you know my boss? She plays the drums."],
        ["My sister lives in Rome. Lovely town. She plays the drums."],
    ],
)
def test_an_unclear_pronoun_states_nothing(lines: list[str]) -> None:
    """Where a pronoun may mean another, or nobody, its sentence is dropped."""
    assert len(told(*lines)) == 1


@pytest.mark.parametrize(
    ("lines", "fact"),
    [
        ([">You live in Leeds, right?", "Right."], "I live in Leeds"),
        ([">So you're a vegetarian?", "Yes, exactly."], "I'm a vegetarian"),
        ([">Your dog is called Fen?", "yep"], "My dog is called Fen"),
    ],
)
def test_a_guess_that_is_confirmed_is_a_fact(lines: list[str], fact: str) -> None:
    """What the model asks the user to confirm, and the user confirms, cites both turns."""
    assert [(got.fact, got.events) for got in extracted(*lines)] == [(fact, (1, 2))]


@pytest.mark.parametrize("lines", [[">You live in Leeds.", "Yes"], [">You could visit Rome?", "Yes"]])
def test_a_yes_to_no_guess_states_nothing(lines: list[str]) -> None:
    """A yes confirms what was asked about the user, not what was claimed or suggested."""
    assert told(*lines) == []


@pytest.mark.parametrize("joke", ["Just kidding!", "I was joking.", "That was a joke."])
def test_a_joke_is_taken_back(joke: str) -> None:
    """What is called a joke right after it was said is not a fact, and what was said long before stays."""
    assert told("I keep bees. I own a yacht. " + joke) == ["I keep bees"]
    assert told("I own a yacht.", ">Really?", joke) == []
    assert told("I keep bees.", ">Nice.", "ok", ">So?", joke) == ["I keep bees"]
