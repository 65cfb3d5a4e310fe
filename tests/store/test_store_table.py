"""The door to DynamoDB, against scripted replies of botocore's own Stubber."""

from contextlib import contextmanager
from copy import deepcopy

import boto3
import pytest
from botocore.exceptions import ClientError, ReadTimeoutError
from botocore.stub import Stubber
from hypothesis import given
from hypothesis import strategies as st

from streambank.errors import Conflict, OutOfReach
from streambank.retry import RetryPolicy
from streambank.store.actions import Delete, Put, Update, absent, equals, present
from streambank.store.keys import Key
from streambank.store.table import Table

FIRST, SECOND = Key("S#b#s", "HEAD"), Key("S#b#s", "B#1")
ACTIONS = [Put(FIRST, {"ver": 2}, equals(ver=1)), Put(SECOND, {"n": 1}, absent())]
CLIENT = boto3.client("dynamodb", region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test")
TRANSACT = "transact_write_items"


class Script:
    """Replies in order, and what was asked: a timeout stands for a request that nobody answered."""

    def __init__(self, stub):
        self.stub, self.asked, self.timeouts, self.pauses = stub, [], set(), []
        self.table = Table(CLIENT, "t", RetryPolicy(self.pauses.append, lambda: 0.5))

    def heard(self, params, **_):
        self.asked.append(deepcopy(params))
        if len(self.asked) in self.timeouts:
            raise ReadTimeoutError(endpoint_url="https://dynamodb")

    def fails(self, code, *reasons, operation=TRANSACT, retries=0, status=400):
        more = {"CancellationReasons": [{"Code": reason} for reason in reasons]} if reasons else None
        meta = {"RetryAttempts": retries}
        self.stub.add_client_error(operation, code, http_status_code=status, modeled_fields=more, response_meta=meta)

    def cancels(self, *reasons, retries=0):
        self.fails("TransactionCanceledException", *reasons, retries=retries)

    def succeeds(self, operation=TRANSACT, **reply):
        self.stub.add_response(operation, reply)

    def times_out(self):
        self.timeouts.add(len(self.stub._queue) + len(self.timeouts) + 1)


@contextmanager
def scripted():
    stub = Stubber(CLIENT)
    script = Script(stub)
    CLIENT.meta.events.register_first("provide-client-params.dynamodb", script.heard)
    try:
        with stub:
            yield script
    finally:
        CLIENT.meta.events.unregister("provide-client-params.dynamodb", script.heard)


@pytest.fixture
def script():
    with scripted() as script:
        yield script


CHECK = "ConditionalCheckFailed"
BUSY = "TransactionConflict"


# ---- transactions


def test_a_transaction_is_sent_whole_with_a_token(script):
    """All actions travel in one request, in order, under a token of their own."""
    script.succeeds()
    script.succeeds()
    script.table.transact(ACTIONS)
    script.table.transact(ACTIONS)
    first, second = script.asked
    assert first["TransactItems"] == [{"Put": action.request("t")} for action in ACTIONS]
    assert first["ClientRequestToken"] != second["ClientRequestToken"]


@pytest.mark.parametrize("reasons", [(CHECK, "None"), ("None", CHECK), (BUSY, "None")])
def test_a_cancellation_at_the_first_try_is_a_conflict(script, reasons):
    """Nothing was written: the caller reads again, nothing is repeated here."""
    script.cancels(*reasons)
    with pytest.raises(Conflict) as conflict:
        script.table.transact(ACTIONS)
    assert conflict.value.reasons == reasons
    assert len(script.asked) == 1
    assert script.pauses == []


def test_who_does_not_read_again_repeats_what_only_met_others(script):
    """A plan that met somebody at its window is sent again until it is decided; each try is a request of its own."""
    script.cancels(BUSY, "None")
    script.cancels("None", BUSY)
    script.succeeds()
    script.table.transact_despite_contention(ACTIONS)
    assert len(script.asked) == 3
    assert len({request["ClientRequestToken"] for request in script.asked}) == 3
    assert len(script.pauses) == 2


def test_a_failed_condition_ends_the_repeats(script):
    """What is decided is told at once."""
    script.cancels(BUSY, "None")
    script.cancels(CHECK, BUSY)
    with pytest.raises(Conflict) as conflict:
        script.table.transact_despite_contention(ACTIONS)
    assert conflict.value.failed(0)
    assert len(script.asked) == 2


STORED = {"PK": {"S": "S#b#s"}, "SK": {"S": "HEAD"}, "sv": {"N": "1"}}
REPEATED = [
    (Put(FIRST, {"ver": 2, "due": None}, equals(ver=1)), "put_item", STORED | {"ver": {"N": "2"}}),
    (
        Update(FIRST, {"ver": 2, "due": None}, equals(ver=1)),
        "update_item",
        STORED | {"ver": {"N": "2"}, "n": {"N": "7"}},
    ),
    (Delete(FIRST, equals(ver=1)), "delete_item", None),
]


@pytest.mark.parametrize(("action", "operation", "stored"), REPEATED)
def test_a_write_that_was_repeated_below_knows_its_own_effect(script, action, operation, stored):
    """The first send was carried out and its reply was lost: the refusal of the second is no refusal of the write."""
    script.fails("ConditionalCheckFailedException", operation=operation, retries=1)
    script.succeeds("get_item", **({"Item": stored} if stored else {}))
    script.table.write(action)
    assert script.asked[1]["ConsistentRead"] is True


@pytest.mark.parametrize(("action", "operation", "stored"), REPEATED)
def test_another_writers_effect_is_a_conflict(script, action, operation, stored):
    """What is stored is not what was written, so somebody else wrote: after a repeat too, and without one unread."""
    script.fails("ConditionalCheckFailedException", operation=operation, retries=1)
    script.succeeds("get_item", Item=(stored or STORED) | {"ver": {"N": "3"}})
    with pytest.raises(Conflict):
        script.table.write(action)
    script.fails("ConditionalCheckFailedException", operation=operation)
    with pytest.raises(Conflict):
        script.table.write(action)
    assert len(script.asked) == 3


@pytest.mark.parametrize(
    ("action", "operation"),
    [(ACTIONS[0], "put_item"), (Update(FIRST, {"n": 2}, present()), "update_item"), (Delete(FIRST), "delete_item")],
)
def test_a_single_write_that_meets_a_transaction_is_repeated(script, action, operation):
    """A timer that is set while a call commits is no fault: nothing was written, so it is sent again."""
    script.fails("TransactionConflictException", operation=operation)
    script.fails("TransactionConflictException", operation=operation)
    script.succeeds(operation, **({"Attributes": {}} if operation == "update_item" else {}))
    script.table.write(action)
    assert len(script.asked) == 3


def test_endless_contention_is_out_of_reach(script):
    """Nobody takes it for a failed condition: the window is not given up for it."""
    for _ in range(8):
        script.fails("TransactionConflictException", operation="put_item")
    with pytest.raises(OutOfReach):
        script.table.write(ACTIONS[0])
    assert len(script.pauses) == 7


def open_outcomes():
    return [
        pytest.param(lambda script: script.fails("InternalServerError", status=500), id="fault"),
        pytest.param(lambda script: script.fails("ThrottlingException"), id="throttle"),
        pytest.param(lambda script: script.cancels("None", "ThrottlingError"), id="throttled action"),
        pytest.param(lambda script: script.cancels(BUSY, "None", retries=1), id="hidden repeat"),
        pytest.param(lambda script: script.fails("TransactionInProgressException"), id="in progress"),
        pytest.param(lambda script: script.times_out(), id="timeout"),
    ]


@pytest.mark.parametrize("opens", open_outcomes())
def test_an_open_outcome_repeats_the_same_request(script, opens):
    """The same request goes out again under the same token: DynamoDB carries it out once."""
    opens(script)
    script.succeeds()
    script.table.transact(ACTIONS)
    first, second = script.asked
    assert first == second
    assert len(script.pauses) == 1


@pytest.mark.parametrize("opens", open_outcomes())
@pytest.mark.parametrize("reasons", [(BUSY, "None"), ("None", BUSY), ("None", CHECK)])
def test_after_an_open_outcome_other_cancellations_are_repeated(script, opens, reasons):
    """A conflict after an unknown outcome proves nothing: reading again could store an event without an id twice."""
    opens(script)
    script.cancels(*reasons)
    script.cancels(*reasons)
    script.succeeds()
    script.table.transact(ACTIONS)
    assert len(script.asked) == 4
    assert all(request == script.asked[0] for request in script.asked)


@pytest.mark.parametrize("opens", open_outcomes())
def test_after_an_open_outcome_the_heads_condition_is_final(script, opens):
    """Only the failed condition of the first action rules the request out for good."""
    opens(script)
    script.cancels(CHECK, BUSY)
    with pytest.raises(Conflict) as conflict:
        script.table.transact(ACTIONS)
    assert conflict.value.failed(0)


def test_a_hidden_repeat_with_a_failed_condition_is_final(script):
    """A condition of the head that failed after botocore's own repeat rules the request out as well."""
    script.cancels(CHECK, "None", retries=2)
    with pytest.raises(Conflict):
        script.table.transact(ACTIONS)
    assert len(script.asked) == 1


def test_the_tries_are_counted(script):
    """After eight tries nobody knows, and the caller is told so."""
    for _ in range(8):
        script.fails("InternalServerError", status=500)
    with pytest.raises(OutOfReach):
        script.table.transact(ACTIONS)
    assert len(script.asked) == 8
    assert script.pauses == [0.025, 0.05, 0.1, 0.2, 0.4, 0.5, 0.5]


@pytest.mark.parametrize("is_open", [False, True])
def test_a_refused_transaction_is_a_fault_of_ours(script, is_open):
    """A validation error is raised as it is and never repeated."""
    if is_open:
        script.fails("ThrottlingException")
    script.cancels("None", "ValidationError")
    with pytest.raises(ClientError) as refused:
        script.table.transact(ACTIONS)
    assert refused.value.response["Error"]["Code"] == "TransactionCanceledException"
    assert len(script.asked) == 1 + is_open


def test_a_token_used_for_something_else_is_a_fault_of_ours(script):
    """A mismatch of parameters under one token must not pass for a conflict."""
    script.fails("IdempotentParameterMismatchException")
    with pytest.raises(ClientError):
        script.table.transact(ACTIONS)


REPLIES = {
    "ok": lambda script: script.succeeds(),
    "lost": lambda script: script.cancels(CHECK, "None"),
    "taken": lambda script: script.cancels("None", CHECK),
    "busy": lambda script: script.cancels(BUSY, "None"),
    "throttled": lambda script: script.cancels("ThrottlingError", "None"),
    "fault": lambda script: script.fails("InternalServerError", status=500),
    "hidden": lambda script: script.cancels("None", BUSY, retries=1),
}


@given(replies=st.lists(st.sampled_from(sorted(REPLIES)), min_size=8, max_size=8))
def test_any_sequence_of_replies(replies):
    """A conflict is raised only where it proves that nothing was written; the rest is repeated or unknown."""
    is_open, expected, requests = False, OutOfReach, 8
    for number, reply in enumerate(replies, 1):
        is_open = is_open or reply in ("hidden", "throttled", "fault")
        if reply in ("ok", "lost") or (reply in ("taken", "busy") and not is_open):
            expected, requests = (None if reply == "ok" else Conflict), number
            break
    with scripted() as script:
        for reply in replies:
            REPLIES[reply](script)
        if expected is None:
            script.table.transact(ACTIONS)
        else:
            with pytest.raises(expected):
                script.table.transact(ACTIONS)
        assert len(script.asked) == requests
        assert len({request["ClientRequestToken"] for request in script.asked}) == 1


# ---- reads and single writes


def item(key):
    return {"PK": {"S": key.pk}, "SK": {"S": key.sk}, "n": {"N": "1"}}


def plain(key):
    return {"PK": key.pk, "SK": key.sk, "n": 1}


def wire_key(key):
    return {"PK": {"S": key.pk}, "SK": {"S": key.sk}}


def test_a_missing_item_is_none(script):
    """A consistent read tells an item, or that there is none."""
    script.succeeds("get_item", Item=item(FIRST))
    script.succeeds("get_item")
    assert script.table.get(FIRST) == plain(FIRST)
    assert script.table.get(FIRST) is None
    assert all(request["ConsistentRead"] for request in script.asked)


def test_unprocessed_keys_are_asked_again(script):
    """What a batch leaves out is asked for again, consistently, until all is there."""
    left = {"t": {"Keys": [wire_key(SECOND)]}}
    script.succeeds("batch_get_item", Responses={"t": [item(FIRST)]}, UnprocessedKeys=left)
    script.succeeds("batch_get_item", Responses={"t": [item(SECOND)]}, UnprocessedKeys={})
    assert script.table.read([FIRST, SECOND, FIRST]) == {FIRST: plain(FIRST), SECOND: plain(SECOND)}
    requests = [request["RequestItems"]["t"] for request in script.asked]
    assert [request["Keys"] for request in requests] == [[wire_key(FIRST), wire_key(SECOND)], [wire_key(SECOND)]]
    assert all(request["ConsistentRead"] for request in requests)


def test_keys_that_stay_unprocessed_are_out_of_reach(script):
    """A batch that is never finished is no empty answer."""
    for _ in range(8):
        script.succeeds("batch_get_item", Responses={}, UnprocessedKeys={"t": {"Keys": [wire_key(FIRST)]}})
    with pytest.raises(OutOfReach):
        script.table.read([FIRST])


def test_a_hundred_keys_go_at_a_time(script):
    """More keys than BatchGetItem takes are more requests."""
    for _ in range(3):
        script.succeeds("batch_get_item", Responses={})
    script.table.read(Key("p", str(number)) for number in range(201))
    assert [len(request["RequestItems"]["t"]["Keys"]) for request in script.asked] == [100, 100, 1]


def test_unprocessed_writes_are_sent_again(script):
    """Deletions that DynamoDB put off are sent again; twenty-five go at a time."""
    last = {"DeleteRequest": {"Key": wire_key(Key("p", "24"))}}
    script.succeeds("batch_write_item", UnprocessedItems={"t": [last]})
    script.succeeds("batch_write_item", UnprocessedItems={})
    script.succeeds("batch_write_item")
    assert script.table.delete_all(Key("p", str(number)) for number in range(30)) == 30
    assert [len(request["RequestItems"]["t"]) for request in script.asked] == [25, 1, 5]
    assert script.asked[1]["RequestItems"]["t"] == [last]


def test_writes_that_stay_unprocessed_are_out_of_reach(script):
    """A deletion that is never carried out is no success."""
    for _ in range(8):
        script.succeeds("batch_write_item", UnprocessedItems={"t": [{"DeleteRequest": {"Key": wire_key(FIRST)}}]})
    with pytest.raises(OutOfReach):
        script.table.delete_all([FIRST])


def test_a_query_follows_its_pages(script):
    """Items come page by page, consistently; a limit is a page's size, not the answer's."""
    script.succeeds("query", Items=[item(FIRST)], LastEvaluatedKey=wire_key(FIRST))
    script.succeeds("query", Items=[item(SECOND)])
    assert list(script.table.query("S#b#s", prefix="B", page=1)) == [plain(FIRST), plain(SECOND)]
    first, second = script.asked
    assert (first["Limit"], first["ConsistentRead"], first["ScanIndexForward"]) == (1, True, True)
    assert second["ExclusiveStartKey"] == wire_key(FIRST)


def test_a_query_may_lag(script):
    """It is then not a consistent one, on each page."""
    script.succeeds("query", Items=[item(FIRST)], LastEvaluatedKey=wire_key(FIRST))
    script.succeeds("query", Items=[item(SECOND)])
    assert list(script.table.query("S#b#s", may_lag=True)) == [plain(FIRST), plain(SECOND)]
    assert [request["ConsistentRead"] for request in script.asked] == [False, False]


def test_an_index_is_never_read_consistently(script):
    """A global index cannot be; asking for it would be refused."""
    script.succeeds("query", Items=[])
    list(script.table.query_index("due", "DUE#1", up_to=7))
    [request] = script.asked
    assert "ConsistentRead" not in request
    assert request["ExpressionAttributeNames"] == {"#pk": "G1PK", "#sk": "G1SK"}
    assert request["ExpressionAttributeValues"] == {":pk": {"S": "DUE#1"}, ":to": {"N": "7"}}


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("ConditionalCheckFailedException", 400, Conflict),
        ("ThrottlingException", 400, OutOfReach),
        ("X", 503, OutOfReach),
    ],
)
def test_failures_of_single_calls_are_translated(script, code, status, kind):
    """Nobody above the table sees an error of botocore's that has a name of ours."""
    script.fails(code, operation="update_item", status=status)
    with pytest.raises(kind):
        script.table.write(Update(FIRST, {"n": 1}, present()))


def test_an_update_returns_the_item_as_it_is_then(script):
    """The new state is read in the same request."""
    script.succeeds("update_item", Attributes=item(FIRST))
    assert script.table.write(Update(FIRST, {"n": 1}, present())) == plain(FIRST)
    assert script.asked[0]["ReturnValues"] == "ALL_NEW"
