from datetime import timedelta

import pytest

from streambank.store import codec, due_partitions, keys
from streambank.store.actions import Put
from streambank.store.due import DueIndex, DueItem, DueKind, due_item
from tests.world import START, event

MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(
    ("key", "item"),
    [
        (keys.head("b", "s"), DueItem(DueKind.HEAD, "b", "s")),
        (keys.window("b", "s", 12), DueItem(DueKind.WINDOW, "b", "s", window=12)),
        (keys.memory("b", "c", "m1"), DueItem(DueKind.MEMORY, "b", "c", memory="m1")),
        (keys.bank("1234"), DueItem(DueKind.BANK, "1234")),
    ],
)
def test_a_key_says_what_is_due(key, item):
    """The index holds keys only; each names what the sweep must look at."""
    assert due_item(key) == item


def filled(world, count=12):
    """Give each of several streams a window that is due one minute after the one before."""
    sids = []
    for number in range(1, count + 1):
        receipt = world.ingest(event("x"), streamId=f"s{number}", rule={"idleDuration": f"{60 * number}s"})
        sids.append(receipt.operation.id.sid)
    return sids


def test_exactly_what_is_due_is_shown(world):
    """A stream is shown from the second on at which its timer fires, and not before."""
    index, sids = DueIndex(world.table), filled(world)
    for number in range(len(sids) + 1):
        due = [item.name for item in index.items(START + number * MINUTE)]
        assert sorted(due) == sorted(sids[:number])
        early = START + (number + 1) * MINUTE - timedelta(microseconds=1)
        assert sorted(item.name for item in index.items(early)) == sorted(due)


def test_no_shard_always_comes_last(world):
    """The order of the shards turns with the minutes, so that a sweep without time starves none."""
    index = DueIndex(world.table)
    filled(world)
    firsts = {next(index.items(START + timedelta(hours=1, minutes=turn))).name for turn in range(due_partitions.SHARDS)}
    assert len(firsts) > 1


def test_the_earliest_due_time(world):
    """Local mode's clock steps to the next due second; nothing due is None."""
    index = DueIndex(world.table)
    assert index.earliest() is None
    filled(world, 3)
    assert index.earliest() == (START + MINUTE).timestamp()


def test_sealing_takes_the_head_out_and_puts_the_window_in(world):
    """After a seal the sweep looks at the window, in two minutes, and no longer at the stream."""
    world.ingest(event("x"), rule={"idleDuration": "60s"})
    world.ingest(forceFlush=True)
    world.deliver()
    items = list(DueIndex(world.table).items(START + timedelta(days=99)))
    assert [(item.kind, item.window) for item in items] == [(DueKind.WINDOW, 1)]
    assert DueIndex(world.table).earliest() == (START + 2 * MINUTE).timestamp()


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        (keys.version("b", "c"), DueKind.ERASURE),
        (keys.bank_erasure("b"), DueKind.ERASURE),
        (keys.bank_job("b", "export"), DueKind.EXPORT),
        (keys.bank_job("b", "import"), DueKind.IMPORT),
        (keys.bank_job("b", "reindex"), DueKind.REINDEX),
        (keys.bank_replay("b"), DueKind.REPLAY),
        (keys.replay("b", "s", 1), DueKind.REPLAY),
        (keys.bank("b"), DueKind.BANK),
    ],
)
def test_jobs_are_apart(world, key, kind):
    """Every kind of job lies in a partition of its own, where no backlog of windows is before it."""
    world.table.write(Put(key, codec.due_values(key, START)))
    index = DueIndex(world.table)
    assert list(index.items(START)) == []
    assert [(job.kind, job.bank, job.due) for job in index.jobs(START)] == [(kind, "b", START)]
    assert index.earliest() == START.timestamp()


def test_banks_take_turns(world):
    """However much of one bank is due before it, the first item of another bank is among the first."""
    for number in range(40):
        key = keys.window("busy", f"s{number}", 1)
        world.table.write(Put(key, codec.due_values(key, START)))
    key = keys.window("quiet", "s", 1)
    world.table.write(Put(key, codec.due_values(key, START + MINUTE)))
    banks = [item.bank for item in DueIndex(world.table).items(START + MINUTE)]
    assert len(banks) == 41
    assert "quiet" in banks[:2]
