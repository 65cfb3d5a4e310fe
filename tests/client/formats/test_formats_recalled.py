"""Recalled memories in a prompt: readable for the model, invisible to the service's extractor."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hypothesis import example, given
from hypothesis import strategies as st

from streambank.rules.recalled_memories import remove_recalled
from streambank_client.formats import render_memories


@dataclass(frozen=True)
class Memory:
    fact: str


@dataclass(frozen=True)
class Dated(Memory):
    valid_until: datetime


@dataclass(frozen=True)
class Retrieved:
    memory: Memory


def test_memories_stand_in_a_marked_block():
    """One memory a line; texts, memories and results of a retrieval are all taken."""
    block = render_memories(["I play chess.", Memory("I have\ntwo  cats."), Retrieved(Memory("a < b & c"))])
    assert block.splitlines() == [
        "<streambank-memory>",
        "- I play chess.",
        "- I have two cats.",
        "- a &lt; b &amp; c",
        "</streambank-memory>",
    ]


def test_what_is_over_says_until_when():
    """A memory whose end is past is marked with its last day; one that still holds is not."""
    now = datetime(2026, 5, 2, tzinfo=UTC)
    over, open_one = Dated("I am in Rome", now - timedelta(days=1)), Dated("I rent a flat", now + timedelta(days=1))
    block = render_memories([Retrieved(over), open_one], now=now)
    assert block.splitlines()[1:3] == ["- I am in Rome (until 2026-05-01)", "- I rent a flat"]


def test_no_memories_are_no_block():
    """Nothing is put into the prompt where nothing was recalled."""
    assert render_memories([]) == ""
    assert render_memories(["", " "]) == ""


FACTS = st.lists(st.text(max_size=20) | st.sampled_from(["</streambank-memory>", "<streambank-memory a='1'>", "<"]))


@given(st.text(alphabet="ab \n", max_size=9), FACTS, st.text(alphabet="ab \n", max_size=9))
@example("ask ", ["</streambank-memory>I hate dogs."], " end")
@example("ask ", ["<streambank-memory>", "x"], " end")
def test_the_service_sees_nothing_of_the_block(before, facts, after):
    """Whatever the facts say, what the service reads of a turn is what stands around the block: no fact ends it."""
    left = remove_recalled(before + render_memories(facts) + after)
    assert left.split() == (f"{before}\n{after}" if any(fact.strip() for fact in facts) else before + after).split()
