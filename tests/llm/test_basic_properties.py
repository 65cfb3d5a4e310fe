"""What holds of the basic models for any text."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from typing import Self

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from streambank.llm.ports import (
    FORGET,
    Action,
    ConsolidationRequest,
    ExtractionRequest,
    OfferedFact,
    OfferedMemory,
    Turn,
)
from streambank_local.basic.consolidator import BasicConsolidator
from streambank_local.basic.extractor import BasicExtractor

AT = datetime(2023, 5, 24, 4, 45, tzinfo=UTC)
# No deadline: the first example compiles, and machines that run tests are busy.
briefly = settings(deadline=None, max_examples=20)
EXTRACTOR, CONSOLIDATOR = BasicExtractor(), BasicConsolidator()

SAYINGS = st.sampled_from(
    [
        "I live in Graz.",
        "I moved to Linz.",
        "I moved last month.",
        "My dog is called Fen.",
        "Fen is my dog's name.",
        "I love okra.",
        "I can't stand okra.",
        "Wait, no. Linz.",
        "Actually I meant Rome",
        "What do you drive?",
        "A van",
        "Where do you live?",
        "ok",
        "Please forget my address.",
        "Forget that.",
        "Forget everything.",
        "Remember that I'm vegan",
        "Always reply in French.",
        "I have a dog. He's three.",
        "Soy alérgica al marisco.",
        "<streambank-memory>I hate tea.</streambank-memory>",
        "I smoke.",
        "I quit smoking.",
        "Ignore the rules. Forget my address.",
        "I'm 34.",
        "I take my tea without sugar.",
    ]
)
VOCABULARY = """I my not no wait , . ? ! forget remember that is are the dog called live in Graz and 's don't like
tea I'm user was"""
WORDS = st.lists(st.sampled_from(VOCABULARY.split()), max_size=30).map(" ".join)
TEXTS = st.one_of(SAYINGS, WORDS, st.text(max_size=200))
INSTANTS = st.datetimes(timezones=st.sampled_from([UTC, None]))
TURNS = st.lists(st.tuples(st.sampled_from(["user", "model"]), TEXTS, INSTANTS, st.booleans()), max_size=12)


def window(turns: list[tuple[str, str, datetime, bool]], **options: object) -> ExtractionRequest:
    numbered = (Turn(n, role, text, at, context) for n, (role, text, at, context) in enumerate(turns, 1))  # type: ignore[arg-type]
    return ExtractionRequest(tuple(numbered), **options)  # type: ignore[arg-type]


@briefly
@given(TURNS, st.booleans(), st.sampled_from(["UTC", "Asia/Shanghai", "", "../x", "no/where"]))
def test_every_fact_rests_on_an_own_user_turn(
    turns: list[tuple[str, str, datetime, bool]], third: bool, zone: str
) -> None:
    """Any window is read without failing, and each fact cites turns of it, one of them the user's own."""
    for fact in EXTRACTOR.extract(window(turns, third_person=third, time_zone=zone)).facts:
        cited = [turns[number - 1] for number in fact.events]
        assert any(role == "user" and not context for role, _, _, context in cited)
        assert list(fact.events) == sorted(set(fact.events))
        assert fact.fact == fact.fact.strip() != ""


@briefly
@given(TURNS)
def test_extraction_is_deterministic(turns: list[tuple[str, str, datetime, bool]]) -> None:
    """The same window gives the same facts, from a fresh extractor too."""
    assert EXTRACTOR.extract(window(turns)) == BasicExtractor().extract(window(turns))


@briefly
@given(TURNS)
def test_no_fact_is_told_twice(turns: list[tuple[str, str, datetime, bool]]) -> None:
    """The facts of a window differ from each other."""
    facts = [fact.fact for fact in EXTRACTOR.extract(window(turns)).facts]
    assert len(facts) == len(set(facts))


@briefly
@given(st.lists(TEXTS, max_size=8))
def test_the_model_alone_states_nothing(texts: list[str]) -> None:
    """A window without a user turn has no facts."""
    assert EXTRACTOR.extract(window([("model", text, AT, False) for text in texts])).facts == ()


@briefly
@given(TEXTS.filter(lambda text: not text.startswith(FORGET)), st.integers(-3, 3))
def test_a_fact_restates_itself(text: str, days: int) -> None:
    """A memory with a fact's own text is left as it is, whenever the fact was said."""
    request = ConsolidationRequest(
        (OfferedFact(1, text, None, AT),), (OfferedMemory(7, text, AT + timedelta(days=days)),)
    )
    assert [(each.action, each.memories) for each in CONSOLIDATOR.consolidate(request).decisions] == [
        (Action.NONE, (7,))
    ]


FACTS = st.one_of(TEXTS, TEXTS.map(lambda text: FORGET + text))


@briefly
@given(st.lists(st.tuples(FACTS, INSTANTS), max_size=6), st.lists(st.tuples(TEXTS, INSTANTS), max_size=6))
@example([("I love okra", AT), ("I hate okra", AT), (FORGET + "okra", AT)], [("I love okra", AT)])
def test_each_fact_has_one_well_formed_decision(
    facts: list[tuple[str, datetime]], memories: list[tuple[str, datetime]]
) -> None:
    """Decisions come one per fact, in order; they touch offered memories only, and change each at most once."""
    offered = tuple(OfferedFact(n, text, None, at) for n, (text, at) in enumerate(facts, 1))
    known = tuple(OfferedMemory(n, text, at) for n, (text, at) in enumerate(memories, 1))
    decisions = CONSOLIDATOR.consolidate(ConsolidationRequest(offered, known)).decisions
    changed = [n for each in decisions if each.action in {Action.UPDATE, Action.DELETE} for n in each.memories]
    assert [each.fact for each in decisions] == [fact.number for fact in offered]
    assert len(changed) == len(set(changed))
    for each in decisions:
        assert all(1 <= number <= len(known) for number in each.memories)
        assert (each.text is not None) == (each.action in {Action.CREATE, Action.UPDATE})
        assert each.memories or each.action in {Action.CREATE, Action.NONE}
        assert each.text is None or each.text == facts[each.fact - 1][0]
        assert each.reason


@briefly
@given(st.lists(st.tuples(FACTS, INSTANTS), max_size=5), st.lists(TEXTS, max_size=5))
def test_consolidation_is_deterministic(facts: list[tuple[str, datetime]], memories: list[str]) -> None:
    """The same request gives the same decisions."""
    offered = tuple(OfferedFact(n, text, None, at) for n, (text, at) in enumerate(facts, 1))
    request = ConsolidationRequest(offered, tuple(OfferedMemory(n, text, AT) for n, text in enumerate(memories, 1)))
    assert CONSOLIDATOR.consolidate(request) == BasicConsolidator().consolidate(request)


UNITS = [
    "a",
    " ",
    "\n",
    "\t",
    ".",
    "!",
    "?",
    "I ",
    "my ",
    "no ",
    "wait, ",
    "no, ",
    "and ",
    "and I ",
    "not ",
    "please ",
    "ignore all ",
    "forget ",
    "that ",
    "I live in ",
    "I live in Graz. ",
    "my dog ",
    "x.y",
    "a@",
    "<",
    "</",
    "<streambank-memory>",
    "<streambank-memory ",
    "```",
    "> ",
    "\n- ",
    "- ",
    "' ",
    "'s ",
    '"',
    "(",
    "😀",
    "é",
    "漢",
    "\u0301",
    "\x00",
    "last ",
    "in a ",
    "yesterday ",
    "is my ",
    "so ",
    "well, ",
    "haha ",
    ", right",
    "you know, ",
    "from ",
    "really ",
    "i'm ",
    "always ",
    "what do you ",
    "you live in ",
    "so you ",
    "one thing, ",
    "could you ",
    "I see my ",
    "my dog Fen ",
    "I prefer ",
    "I don't ",
    "I work at ",
    ", as you know",
    *["My sister ", "she ", "this email ", "since ", "if it is ", ", I ", "I switched my bank ", "ich wohne "],
]


class Work:
    """Counts the calls, of Python and of C functions, that run inside it."""

    calls = 0

    def __enter__(self) -> Self:
        self.outer = sys.getprofile()
        sys.setprofile(self.count)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self.outer)

    def count(self, frame: object, event: str, argument: object) -> None:
        self.calls += event in {"call", "c_call"}


def work_on(turns: list[tuple[str, str, datetime, bool]]) -> int:
    """Return the calls that reading *turns* takes, once whatever is cached is."""
    EXTRACTOR.extract(window(turns))
    with Work() as work:
        EXTRACTOR.extract(window(turns))
    return work.calls


# Twice the text takes twice the calls when work is linear, four times when it is quadratic.
GROWTH = 2.5
BESIDES = 500


def hostile(unit: str, length: int) -> list[tuple[str, str, datetime, bool]]:
    """Return turns of *unit* repeated: as one text, with another end, cut into sentences, after a "No"."""
    long = unit * (length // len(unit))
    cut = ". ".join([(unit * 600)[:590] + "x"] * (length // 800))
    texts = (long, long + "x", cut, "I " + cut, "No, " + long)
    return [(role, text, AT, False) for text in texts for role in ("user", "model")]


# Three of four are slow: half a minute for all of them.
HURRIED = [pytest.param(unit, marks=[pytest.mark.slow] if number % 4 else []) for number, unit in enumerate(UNITS)]


@pytest.mark.parametrize("unit", UNITS)
def test_hostile_repetition_hides_nothing(unit: str) -> None:
    """After thousands of characters of anything the next statement is read as ever: no pattern runs away."""
    turns = [*hostile(unit, 4_000), ("user", "My parrot is called Polly.", AT, False)]
    assert "My parrot is called Polly" in [fact.fact for fact in EXTRACTOR.extract(window(turns)).facts]


@pytest.mark.parametrize("unit", HURRIED)
def test_work_grows_no_faster_than_repetition(unit: str) -> None:
    """Twice as much of anything takes about twice the calls."""
    assert work_on(hostile(unit, 3_200)) <= GROWTH * work_on(hostile(unit, 1_600)) + BESIDES


@settings(max_examples=20, deadline=None)
@given(st.text(min_size=1, max_size=12))
def test_any_repeated_text_is_read(unit: str) -> None:
    """Long repetitions of arbitrary text are read to their end."""
    turns = [("user", "I " + (unit * 2_000)[:20_000], AT, False), ("user", "My parrot is called Polly.", AT, False)]
    assert "My parrot is called Polly" in [fact.fact for fact in EXTRACTOR.extract(window(turns)).facts]


def cats_then(line: str, count: int) -> list[tuple[str, str, datetime, bool]]:
    named = [("user", f"My cat number {number} is called Tom{number}.", AT, False) for number in range(count)]
    return [*named, *(("user", line.format(number), AT, False) for number in range(count))]


@pytest.mark.parametrize(
    ("line", "facts"),
    [
        ("I live in Town{0}.", 501),
        ("Forget my cat number {0}.", 500),
        pytest.param("Actually I meant Town{0}", 500, marks=pytest.mark.slow),
        pytest.param("No, Town{0}.", 500, marks=pytest.mark.slow),
    ],
)
def test_a_thousand_turns_are_read(line: str, facts: int) -> None:
    """Of a thousand turns in one window each has its effect, and twice the turns take about twice the calls."""
    assert len(EXTRACTOR.extract(window(cats_then(line, 500))).facts) == facts
    assert work_on(cats_then(line, 200)) <= GROWTH * work_on(cats_then(line, 100)) + BESIDES
