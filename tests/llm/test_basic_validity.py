"""From when until when the basic model takes a fact to hold, and what it takes for a correction."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from streambank.llm.ports import ExtractedFact, ExtractionRequest, FactChange, OfferedMemory, Turn
from streambank_local.basic.extractor import BasicExtractor

# A Wednesday.
AT = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
VIENNA = OfferedMemory(1, "I live in Vienna", AT)


def extracted(text: str, *memories: OfferedMemory, zone: str = "UTC") -> ExtractedFact:
    request = ExtractionRequest((Turn(1, "user", text, AT),), memories=memories, time_zone=zone)
    [fact] = BasicExtractor().extract(request).facts
    return fact


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("I'm in Rome until Friday.", None, "2026-03-06"),
        ("I work in Linz until 3 May.", None, "2026-05-03"),
        ("I work in Linz until 3 January.", None, "2027-01-03"),
        ("From May I live in Graz.", "2026-05-01", None),
        ("I have lived in Wien since 2024.", "2024-01-01", None),
        ("I have lived in Wien since December.", "2025-12-01", None),
        ("I stay at the Ritz from 3 May to 5 May 2026.", "2026-05-03", "2026-05-05"),
        ("My contract runs until the end of June.", None, "2026-06-30"),
        ("I'm on holiday till June.", None, "2026-05-31"),
        ("My sister lives in Graz until 2026-05-03.", None, "2026-05-03"),
        ("I work from Monday to Friday.", None, None),
        ("I live in Graz.", None, None),
    ],
)
def test_words_say_from_when_until_when(text, start, end):
    """ "Until" and "since" with a date are the ends of the fact; days of the week that it holds on are none."""
    found = extracted(text).validity
    assert (found.start and f"{found.start:%Y-%m-%d}", found.end and f"{found.end:%Y-%m-%d}") == (start, end)


def test_a_day_is_one_of_the_users_zone():
    """ "Until Friday" ends with the Friday of the user."""
    end = extracted("I'm in Rome until Friday.", zone="America/New_York").validity.end
    assert end == datetime(2026, 3, 7, 4, 59, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["No, I meant Rome.", "Sorry, I meant Rome, not Vienna.", "Actually, it's Rome, not Vienna."]
)
def test_a_correction_of_a_memory_names_it(text):
    """What corrects no fact of the window corrects the memory with the wrong value, or the newest one."""
    fact = extracted(text, VIENNA)
    assert (fact.fact, fact.text) == ("I live in Rome", "I live in Rome")
    assert (fact.change, fact.memories, fact.is_correction) == (FactChange.CHANGES, (1,), True)


def test_a_new_statement_is_no_correction():
    """That somebody lives elsewhere now says nothing of what was true before."""
    assert not extracted("I moved to Rome.", VIENNA).is_correction
