"""Memories in an export: what an older export lacks, and what a newer one adds."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from streambank.model.memory import Memory, Revision
from streambank.model.record import MemoryRecord
from streambank.model.validity import OPEN, Statement, Validity
from streambank.wire import record
from tests.rules.building import NOW, SCOPE

DAY = timedelta(days=1)
ADDED = {"validFrom", "validUntil", "statements", "wholeTime", "isCorrection", "isLate", "hiddenRevisions"}


def made():
    stated = (Statement(NOW, NOW), Statement(NOW - DAY, NOW + DAY))
    memory = Memory(
        "m1",
        "I like tea",
        SCOPE,
        NOW,
        NOW,
        NOW,
        revision=2,
        validity=Validity(NOW, NOW + DAY),
        statements=stated,
        whole_since=NOW - DAY,
        hidden=1,
    )
    own = Revision("m1", 1, "I like tea", NOW, None, validity=memory.validity, statements=stated, is_correction=True)
    late = Revision("m1", 2, "I like milk", NOW, None, statements=stated[1:], is_late=True)
    return MemoryRecord(memory, (own, late))


def test_a_line_has_all_that_the_past_needs():
    """What is written is read again: validity, statements, corrections, late revisions, and what was lost."""
    assert record.read(record.line(made()), "default") == made()


def test_a_line_of_an_earlier_release_is_read():
    """Without the new fields a memory is open, and its statements are not known."""
    document = json.loads(record.line(made()))
    old = {name: value for name, value in document.items() if name not in ADDED}
    old["revisions"] = [
        {name: value for name, value in one.items() if name not in ADDED} for one in document["revisions"]
    ]
    read = record.read(json.dumps(old).encode(), "default")
    assert (read.memory.validity, read.memory.statements, read.memory.whole_since) == (OPEN, (), None)
    assert [(one.validity, one.statements, one.is_late) for one in read.revisions] == [(OPEN, (), False)] * 2
    assert read.memory.as_of == NOW


@pytest.mark.parametrize("is_pinned", [True, False])
def test_a_memory_keeps_its_pin(is_pinned):
    """A pinned memory is pinned where it is imported, and a line without a pin is as it was before there were any."""
    pinned = replace(made(), memory=replace(made().memory, pinned=is_pinned))
    line = record.line(pinned)
    assert (b"pinned" in line) is is_pinned
    assert record.read(line, "default") == pinned
