"""What may be left of what was erased, and what of a bank that was deleted (docs/decisions/0016 and 0019)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streambank.model.erasure import Cut
from streambank.model.window import WindowState
from tests import scanner
from tests.world import World

# Every text that a caller of the storm writes begins with its scope.
TEXT = r"u\d+\|[a-z ]*\d+"
_OF_CALLERS = ("dir", "cfg", "fail", "held")


def check(
    world: World, dump: list[dict[str, Any]], cuts: Mapping[str, Cut], texts: set[str], deleted: Iterable[str]
) -> None:
    """Check that no text is anywhere in the table but *texts*, and that only what an erasure leaves is before a cut."""
    for text, place in scanner.texts(world.client, TEXT).items():
        assert text in texts, f"{text!r} was erased and is in {place}"
    for item in dump:
        pk, sk = item["PK"]["S"], item["SK"]["S"]
        gone = set(deleted) & {*pk.split("#"), sk}
        assert not gone, f"{pk} {sk} is left of a bank that was deleted"
        assert "erasing" not in item, f"the erasure in {pk} never ends"
        assert sk != "V" or "moving" not in item, f"the move in {pk} never ends"
        if pk in cuts:
            _check_before_cut(item, cuts[pk])
    _check_memories(dump)


def _check_before_cut(item: dict[str, Any], cut: Cut) -> None:
    kind, _, rest = item["SK"]["S"].partition("#")
    number = int(rest.partition("#")[0]) if kind in ("B", "P", "W") else 0
    assert not (kind == "B" and number <= cut.seq), f"events {rest} are left, the cut is {cut}"
    assert not (kind == "P" and number <= cut.window), f"results {rest} are left, the cut is {cut}"
    is_known = kind == "D" and int(item["seq"]["N"]) <= cut.seq
    assert not (is_known and "h" in item), f"the fingerprint of an erased event is left: {item}"
    if kind == "W" and number <= cut.window:
        assert item["st"]["S"] in (WindowState.ERASED, WindowState.DONE), f"an erased window is {item['st']['S']}"
        assert not set(_OF_CALLERS) & item.keys(), f"an erased window has kept {item}"


def _check_memories(dump: list[dict[str, Any]]) -> None:
    """Check that names and citations are those of memories that are there."""
    keys = [(*item["PK"]["S"].split("#"), *item["SK"]["S"].split("#")) for item in dump]
    memories = {(key[1], key[4]) for key in keys if key[0] == "C" and key[3] == "M"}
    names = {(key[1], key[2]) for key in keys if key[0] == "N"}
    assert names == memories, f"names without a memory, or memories without a name: {sorted(names ^ memories)[:3]}"
    cited = {(key[1], key[4]) for key in keys if key[0] == "C" and key[3] == "T"}
    assert cited <= memories, f"citations of memories that are gone: {sorted(cited - memories)[:3]}"
