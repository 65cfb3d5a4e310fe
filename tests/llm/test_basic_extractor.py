"""Which sentences become facts, in which words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from streambank.llm.ports import ExtractionRequest, Turn
from streambank_local.basic.extractor import BasicExtractor
from tests.llm.conversing import AT, dropped, extracted, told, turn


def test_tool_traffic_is_not_read() -> None:
    """A turn of a tool states nothing, and does not come between a question and its answer."""
    tool = Turn(3, "tool", 'result f {"output": "I live in Wels"}', AT)
    turns = (turn(1, "I live in Graz"), turn(2, ">What is your name?"), tool, turn(4, "Ana"))
    without = (turns[0], turns[1], turns[3])
    facts = BasicExtractor().extract(ExtractionRequest(turns)).facts
    assert facts == BasicExtractor().extract(ExtractionRequest(without)).facts
    assert "Wels" not in str(facts)


@pytest.mark.parametrize(
    "said",
    [
        "My favorite color is blue",
        "My favorite color is green",
        "I keep bees",
        "My cat number 3 is called Tom3",
        "I live in Graz",
        "I play chess",
        "I drive a van",
        "I sold the car",
        "My dog is called Fen",
        "Fen is my dog's name",
        "I bake bread",
        "I collect stamps",
        "I like green tea",
        "I'm allergic to peanuts",
        "My daughter Mia started school",
        "My wife and I live in Graz",
        "I don't drink coffee after six",
        "I eat meat only if it is organic",
        "No sugar in my tea",
        "My phone number is +43 660 123",
        "I wake up at 6 a.m. every day",
        "Dr. Smith is my doctor",
        "I have never been to Japan",
        "I always forget my keys",
        "I think my favorite color is red",
        "I see a therapist on Tuesdays",
        "I see my therapist Doctor Maes every Tuesday",
        "I see my parents at Christmas",
    ],
)
def test_a_statement_is_one_fact_in_its_own_words(said: str) -> None:
    """A statement gives exactly itself, without the full stop."""
    assert told(said + ".") == [said]


@pytest.mark.parametrize(
    "said",
    [
        "",
        "  \n",
        "ok",
        "x",
        "X",
        "hi",
        "Thanks!",
        "thank you so much",
        "That's all for today!",
        "lol",
        "👍",
        "...",
        "?",
        "What are Ana's targets?",
        "What do you drive? A van.",
        "How are you",
        "do you know my name",
        "Is my dog cute?",
        "I'm fine",
        "I see",
        "I see a pattern here",
        "I see my mistake",
        "The walls here are thin, I fear.",
        "Waffle is scared of thunderstorms.",
        "I don't know.",
        "I can't wait!",
        "I agree",
        "I'm so sorry to hear that.",
        "I love it!",
        "If I win the lottery, I'll buy a boat.",
        "I wish I had a dog",
        "Imagine I live on the moon.",
        "I could eat a horse",
        "In my novel I am a dragon.",
        "Tell me a joke about my dog",
        "Book me a table",
        "I need you to book a flight to Graz",
        "I have a question",
        "He likes tea.",
        "It was great.",
        "They moved to Rome.",
        "You make me laugh",
        "Never mind",
        "Paris is the capital of France.",
        "Good morning everyone",
        "Never give up!",
        "That means a lot to me",
        "Hello there, how is it going",
        "I want to know what it costs",
        "Remember to buy milk",
        "Don't forget to call Tom",
    ],
)
def test_talk_that_states_nothing_gives_no_fact(said: str) -> None:
    """Questions, small talk, guesses and commands are not remembered."""
    assert told(said) == []


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("Well, by the way, I keep bees 🐝!!", "I keep bees"),
        ("Hey! I'm vegan btw", "I'm vegan"),
        ("oh and i live in graz, haha", "I live in graz"),
        ("I told you I'm vegan, right?", "I'm vegan"),
        ("That's all for today! My dog is called Fen.", "My dog is called Fen"),
        ("Just moved to Linz!", "I just moved to Linz"),
        ("Allergic to peanuts.", "I'm allergic to peanuts"),
        ("  I\tlive   in Graz  ", "I live in Graz"),
        ("```\nI = my + 1\n```\nI play chess", "I play chess"),
        ("See:\n> I hate dogs\nI play chess", "I play chess"),
        ("Can you book a table? I'm allergic to peanuts", "I'm allergic to peanuts"),
        ("I drink black coffee, as you know.", "I drink black coffee"),
        ("As you may know, I play chess.", "I play chess"),
        ("I moved to Ghent, finally.", "I moved to Ghent"),
        ("Finally, I moved to Ghent.", "I moved to Ghent"),
        ("I live in Ghent, I'm afraid.", "I live in Ghent"),
        ("I play chess, as I told you before.", "I play chess"),
    ],
)
def test_fillers_and_noise_are_left_out(said: str, fact: str) -> None:
    """A fact is the statement without what surrounds it."""
    assert told(said) == [fact]


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ("I'm vegan, and my sister lives in Rome.", ["I'm vegan", "My sister lives in Rome"]),
        ("I live in Graz and work as a nurse.", ["I live in Graz", "I work as a nurse"]),
        ("I was born in Graz; I play chess.", ["I was born in Graz", "I play chess"]),
        ("I get sick when I eat nuts and I drink milk", ["I get sick when I eat nuts and I drink milk"]),
        (
            "My therapist is called Doctor Maes and I have an appointment with her every Tuesday.",
            ["My therapist is called Doctor Maes and I have an appointment with her every Tuesday"],
        ),
        ("My sister lives in Rome and I have her keys", ["My sister lives in Rome and I have her keys"]),
        ("I like tea, but I don't drink it after six", ["I like tea, but I don't drink it after six"]),
        ("- I keep bees\n- I play chess", ["I keep bees", "I play chess"]),
    ],
)
def test_compounds_split_only_where_halves_stand_alone(said: str, facts: list[str]) -> None:
    """Each half of a split sentence can be understood without the other."""
    assert told(said) == facts


def test_a_pronoun_gets_the_noun_before_it() -> None:
    """He, she or it after a person or pet just introduced is told by its noun."""
    assert told("I have a dog. He's three. His name is Fen.") == [
        "I have a dog",
        "My dog is three",
        "My dog's name is Fen",
    ]


@pytest.mark.parametrize(
    ("said", "fact", "topic"),
    [
        ("Remember that I'm vegan", "I'm vegan", "USER_PREFERENCES"),
        ("don't forget that I'm vegan", "I'm vegan", "USER_PREFERENCES"),
        ("Please keep in mind: my sister lives in Rome", "My sister lives in Rome", "USER_PERSONAL_INFO"),
        ("Remember that the wifi code is 1234", "The wifi code is 1234", "USER_PERSONAL_INFO"),
        ("Can you remember that I live in Graz?", "I live in Graz", "USER_PERSONAL_INFO"),
        ("Remember to always reply in French", "Always reply in French", "EXPLICIT_INSTRUCTIONS"),
        ("Always reply in French, please.", "Always reply in French", "EXPLICIT_INSTRUCTIONS"),
        ("Call me Bob", "Call me Bob", "EXPLICIT_INSTRUCTIONS"),
        ("You can call me Bob", "You can call me Bob", "EXPLICIT_INSTRUCTIONS"),
        ("From now on, keep your answers short", "From now on, keep your answers short", "EXPLICIT_INSTRUCTIONS"),
        ("Use metric units.", "Use metric units", "EXPLICIT_INSTRUCTIONS"),
        ("I like green tea", "I like green tea", "USER_PREFERENCES"),
        ("My daughter Mia started school", "My daughter Mia started school", "USER_PERSONAL_INFO"),
        ("I sold the car", "I sold the car", "KEY_CONVERSATION_DETAILS"),
        ("I keep bees", "I keep bees", "USER_PERSONAL_INFO"),
    ],
)
def test_facts_have_their_topic(said: str, fact: str, topic: str) -> None:
    """A fact carries the topic of what it says, an instruction that of instructions."""
    assert [(got.fact, got.topic) for got in extracted(said)] == [(fact, topic)]


def test_only_the_topics_asked_for_are_returned() -> None:
    """A request that names topics gets facts of these alone."""
    assert told("I like green tea.", "I sold the car.", topics=("USER_PREFERENCES",)) == ["I like green tea"]
    assert told("I like green tea.", topics=("CUSTOM",)) == []


@pytest.mark.parametrize(
    "said",
    [
        "Soy alérgica al marisco",
        "Ich wohne in Graz",
        "Je suis végétarien depuis deux ans",
        "J'habite à Lyon",
        "我对花生过敏",
        "Me llamo Juan y vivo en Madrid",
        "Я живу в Граце",
    ],
)
def test_other_languages_pass_verbatim(said: str) -> None:
    """A statement in another language is kept as it was said, in either person."""
    assert told(said + ".") == told(said, third_person=True) == [said]


@pytest.mark.parametrize(
    "said", ["¿Dónde vives?", "Wo wohnst du denn so?", "Gracias por todo amigo", "Danke schön dir", "谢谢你的帮助"]
)
def test_other_languages_questions_and_thanks_are_no_facts(said: str) -> None:
    """Questions and thanks are dropped in other languages too."""
    assert told(said) == []


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("I live in Graz", "The user lives in Graz"),
        ("My dog is called Fen", "The user's dog is called Fen"),
        ("I'm vegan and I don't smoke", "The user is vegan"),
        ("I don't like okra", "The user doesn't like okra"),
        ("I've never been to my sister's house", "The user has never been to their sister's house"),
        ("I always forget my keys", "The user always forgets their keys"),
        ("I went to Rome", "The user went to Rome"),
        ("I study physics", "The user studies physics"),
        ("I'd love to see Japan", "The user would love to see Japan"),
        ("Fen is my dog's name", "Fen is the user's dog's name"),
        ("My wife and I live in Graz", "The user and their wife live in Graz"),
        ("I can't stand okra", "The user can't stand okra"),
        ("We have two kids", "The user and others have two kids"),
        ("Please forget my address", "Forget: the user's address"),
    ],
)
def test_third_person_speaks_of_the_user(said: str, fact: str) -> None:
    """In the third person a fact names the user and agrees with it."""
    assert told(said, third_person=True)[0] == fact


@pytest.mark.parametrize(
    ("at", "zone", "said", "fact"),
    [
        (AT, "UTC", "I moved last month.", "I moved in April 2023"),
        (datetime(2023, 5, 24, 23, 30, tzinfo=UTC), "Europe/Vienna", "I moved today", "I moved on 25 May 2023"),
        (datetime(2023, 5, 24, 23, 30, tzinfo=UTC), "no/such zone", "I moved today", "I moved on 24 May 2023"),
        (
            datetime(2023, 5, 25, 7, tzinfo=timezone(timedelta(hours=8))),
            "America/New_York",
            "I moved today",
            "I moved on 25 May 2023",
        ),
        (AT, "Asia/Shanghai", "I had lunch just now", "I had lunch on 24 May 2023"),
    ],
)
def test_relative_dates_are_the_speakers(at: datetime, zone: str, said: str, fact: str) -> None:
    """A relative date is resolved on the speaker's clock: the event's own offset, else the time zone."""
    assert told(said, at=at, time_zone=zone) == [fact]


def test_a_dropped_statement_says_why() -> None:
    """A statement that is not remembered is a row with its reason; one of a context turn is none."""
    assert dropped("I'd love a boat if I won the lottery. Kidneys filter blood.") == {
        "Kidneys filter blood": "not about the user or somebody of theirs",
        "I'd love a boat if I won the lottery": "a guess or a hypothesis",
    }
    assert dropped("I like jazz. Just kidding!") == {"I like jazz": "the user took it back"}
    assert dropped("I sold the car.", topics=("CUSTOM",)) == {"I sold the car": "its topic is not asked for"}
    assert dropped("~Kidneys filter blood.", "Do you like tea? Thanks!", ">Kidneys filter blood.") == {}
