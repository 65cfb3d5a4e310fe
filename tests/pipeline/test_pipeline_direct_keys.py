"""Direct generations under an idempotency key: repeated while it is remembered, and new afterwards."""

from __future__ import annotations

from datetime import timedelta

import pytest

from streambank.errors import KeyReused
from streambank.model import ids
from streambank.model.operation import Operation, OperationState
from streambank.model.window import DirectMemory
from streambank.pipeline.generation.generate import GenerateCall, generate
from streambank.store import keys
from tests import aws
from tests.world import SCOPE, World


def call(world: World, fact: str, token: str = "k", bank: str = "default") -> Operation:
    given = GenerateCall(bank, SCOPE, token, memories=(DirectMemory(fact),), fingerprint=ids.fingerprint(fact))
    started = generate(given, context=world.generating)
    world.settle()
    return started


def delete_expired(world: World, *kinds: str) -> None:
    """Delete what has expired, as DynamoDB does when it gets round to it: items of some kinds earlier than others."""
    now = int(world.clock().timestamp())
    for item in aws.dump(world.client):
        if int(item.get("ttl", {"N": now})["N"]) < now and keys.kind_of(item["SK"]["S"]) in kinds:
            world.client.delete_item(TableName=aws.TABLE, Key={"PK": item["PK"], "SK": item["SK"]})


def test_a_key_repeats_its_call(world):
    """The same key again is the same operation, and another body is refused; without a key each call is its own."""
    one = call(world, "I like tea")
    assert call(world, "I like tea").id == one.id
    with pytest.raises(KeyReused, match="idempotency key"):
        call(world, "I like jam")
    assert world.facts() == ["I like tea"]
    assert call(world, "I sing", token="").id != call(world, "I run", token="").id
    assert world.facts() == ["I like tea", "I run", "I sing"]


@pytest.mark.parametrize("gone", ["", "W", "WI", "I", "WIBP"], ids=lambda gone: f"gone {gone}")
def test_a_key_that_is_used_again_after_its_time_is_new(world, gone):
    """Whatever is left of the earlier call, its successor runs at once and makes a memory of its own."""
    one = call(world, "I like tea")
    world.clock.move(days=92)
    delete_expired(world, *gone)
    two = call(world, "I like jam")
    assert two.id != one.id
    assert world.operation(two.id).state is OperationState.DONE
    window = world.windows.get("default", two.id.sid, 1)
    assert (window.attempt, window.failures) == (0, 0)
    assert world.facts() == ["I like jam", "I like tea"]
    assert len({verdict.memory_id for verdict in world.plans.verdicts(window)}) == 1
    assert call(world, "I like jam").id == two.id


def test_a_key_whose_window_is_gone_is_new(world):
    """A window that went before its key was forgotten stops nobody."""
    one = call(world, "I like tea")
    gone = keys.window("default", one.id.sid, 1)
    world.client.delete_item(TableName=aws.TABLE, Key={"PK": {"S": gone.pk}, "SK": {"S": gone.sk}})
    two = call(world, "I like jam")
    assert two.id != one.id
    assert world.facts() == ["I like jam", "I like tea"]
    assert call(world, "I like jam").id == two.id


def test_the_operation_of_a_key_cannot_be_worked_out(world):
    """Scope and key do not make the operation's id: in another table, or another bank, it is another one."""
    one = call(world, "I like tea")
    world.client.delete_item(TableName=aws.TABLE, Key=item_key(one))
    two = call(world, "I like tea")
    assert one.id.sid not in (two.id.sid, ids.digest("direct", ids.canonical(SCOPE), "key k"))


def item_key(operation: Operation) -> dict[str, dict[str, str]]:
    key = keys.direct_call("default", ids.scope_id(SCOPE), ids.digest("direct", "k"))
    assert operation.id.window == 1
    return {"PK": {"S": key.pk}, "SK": {"S": key.sk}}


def test_a_key_is_remembered_for_the_horizon(world):
    """A day before the horizon the call is the same, a day after it is new."""
    one = call(world, "I like tea")
    world.clock.move(seconds=(world.retention_policy.dedup_horizon - timedelta(days=1)).total_seconds())
    assert call(world, "I like tea").id == one.id
    world.clock.move(days=2)
    assert call(world, "I like jam").id != one.id
