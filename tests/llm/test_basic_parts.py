"""The parts of the basic models: dates, slots, vectors."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

import streambank
import streambank_local
from streambank.rules import vectors
from streambank_local.basic.dates import resolve_dates
from streambank_local.basic.embedder import DIMENSIONS, WordLlamaEmbedder
from streambank_local.basic.meaning import normalize, parse_meaning

WEDNESDAY = datetime(2023, 5, 24, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("I moved last month", "I moved in April 2023"),
        ("I went yesterday", "I went on 23 May 2023"),
        ("Yesterday I went", "On 23 May 2023 I went"),
        ("Last month was hard", "April 2023 was hard"),
        ("I leave tomorrow", "I leave on 25 May 2023"),
        ("I leave the day after tomorrow", "I leave on 26 May 2023"),
        ("I leave next Friday", "I leave on 26 May 2023"),
        ("I leave next Wednesday", "I leave on 31 May 2023"),
        ("I left last Wed", "I left on 17 May 2023"),
        ("I met Tom two weeks ago", "I met Tom around 10 May 2023"),
        ("I met Tom 3 days ago", "I met Tom on 21 May 2023"),
        ("I got a dog a year ago", "I got a dog in 2022"),
        ("I start in two months", "I start in July 2023"),
        ("I've lived here since last year", "I've lived here since 2022"),
        ("I'm away until next week", "I'm away until the week of 29 May 2023"),
        ("I hiked last weekend", "I hiked on the weekend of 20 May 2023"),
        ("I was in Rome last summer", "I was in Rome in summer 2022"),
        ("I start next January", "I start in January 2024"),
        ("I was ill last night", "I was ill on the night of 23 May 2023"),
        ("I'll see Tom tonight", "I'll see Tom on the evening of 24 May 2023"),
        ("tomorrow's meeting is mine", "tomorrow's (25 May 2023) meeting is mine"),
        ("I went hiking on Sunday", "I went hiking on 21 May 2023"),
        ("I'm flying home on Sunday", "I'm flying home on 28 May 2023"),
        ("I had lunch just now", "I had lunch on 24 May 2023"),
    ],
)
def test_relative_dates_become_absolute(said: str, meant: str) -> None:
    """A relative date is replaced by the date that it meant, no finer than it was said."""
    assert resolve_dates(said, WEDNESDAY) == meant


@pytest.mark.parametrize(
    "said",
    [
        "I play chess on Sundays",
        "I play chess on Sunday",
        "my last job",
        "I moved the other day",
        "I was born in 1990",
        "I live next to Tom",
        "in a year of war",
        "I'm 34 now",
        "I moved 0 moons ago",
    ],
)
def test_other_times_stay(said: str) -> None:
    """What is no relative date, or none that can be told, is left as it was said."""
    assert resolve_dates(said, WEDNESDAY) == said


@pytest.mark.parametrize("year", [1, 9999])
def test_dates_beyond_the_calendar_stay(year: int) -> None:
    """A date that no calendar holds is left as it was said."""
    for said in (
        "I moved 999 years ago",
        "I start in 999 years",
        "I left yesterday",
        "I go tomorrow",
        "last month",
        "next winter",
    ):
        assert resolve_dates(
            said, datetime(year, 1, 1, tzinfo=UTC) if year == 1 else datetime(year, 12, 31, tzinfo=UTC)
        )


@pytest.mark.parametrize(
    ("fact", "key", "value"),
    [
        ("I live in Graz", "residence", "graz"),
        ("The user lives in Graz", "residence", "graz"),
        ("I moved from Graz to Linz in May 2023", "residence", "linz"),
        ("I don't live in Graz anymore", "residence", "not graz"),
        ("My daughter Mia lives in Rome", "daughter mia / residence", "rome"),
        ("My favourite colour is blue", "favorite color", "blue"),
        ("Rovers is my team", "team", "rovers"),
        ("Works night shifts as a nurse", "job", "nurse"),
        ("I can't stand okra", "likes okra", "no"),
        ("My cat number 1 is called Tom1", "name:cat number 1", "tom1"),
    ],
)
def test_attributes_are_read_from_facts(fact: str, key: str, value: str) -> None:
    """A fact in either person says which attribute it sets to what."""
    slot = parse_meaning(fact).slot
    assert slot is not None
    assert (slot.key, slot.value) == (key, value)


@pytest.mark.parametrize(
    "fact",
    ["I moved last month", "I live in a small house", "I drive to work", "I used to live in Graz", "I play chess"],
)
def test_other_facts_set_no_attribute(fact: str) -> None:
    """A fact without a single value fills no slot."""
    assert parse_meaning(fact).slot is None


def test_both_persons_have_one_canonical_form() -> None:
    """A fact reads the same in the first and the third person."""
    assert normalize("I don't like my sister's dog") == normalize("The user doesn't like their sister's dog")


@pytest.fixture(scope="module")
def embedder() -> WordLlamaEmbedder:
    """An embedder, loaded once."""
    return WordLlamaEmbedder()


@pytest.mark.parametrize("text", ["I live in Graz", "", " ", "\x00", "😀" * 1000, "a" * 100_000, "\ud800"])
def test_any_text_has_a_vector(embedder: WordLlamaEmbedder, text: str) -> None:
    """Any text has a vector, packed as 256 numbers that are not all zero."""
    vector = vectors.unpack(embedder.embed([text])[0])
    assert len(vector) == DIMENSIONS
    assert any(vector)


def test_no_texts_have_no_vectors(embedder: WordLlamaEmbedder) -> None:
    """Embedding nothing gives nothing."""
    assert embedder.embed([]) == []


def test_batches_do_not_matter(embedder: WordLlamaEmbedder) -> None:
    """A text's vector does not depend on the texts beside it."""
    texts = ["I live in Graz", "tea", "My dog is called Fen and he is three years old"]
    apart = [embedder.embed([text])[0] for text in texts]
    for one, other in zip(apart, embedder.embed(texts), strict=True):
        assert next(vectors.similarities(one, [other])) == pytest.approx(1, abs=1e-4)


def test_threads_share_one_model() -> None:
    """Threads that embed at once load the model once and get equal vectors."""
    shared = WordLlamaEmbedder()
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: shared.embed(["I keep bees"])[0], range(32)))
    assert len(set(made)) == 1


def test_loading_leaves_the_root_logger_alone() -> None:
    """In a fresh process, loading the embedder changes neither the root logger's level nor its handlers."""
    code = (
        "import logging\n"
        "from streambank_local.basic.embedder import WordLlamaEmbedder\n"
        "WordLlamaEmbedder().embed(['I keep bees'])\n"
        "assert (logging.root.level, logging.root.handlers) == (logging.WARNING, [])\n"
    )
    roots = [str(Path(package.__file__).parents[1]) for package in (streambank, streambank_local)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(roots)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_likeness_shows(embedder: WordLlamaEmbedder) -> None:
    """Related texts are nearer than unrelated ones."""
    dog, puppy, tax = embedder.embed(["my dog", "my puppy", "income tax"])
    nearer, farther = vectors.similarities(dog, [puppy, tax])
    assert nearer > farther
