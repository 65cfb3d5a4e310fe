import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError

from streambank.errors import Conflict, OutOfReach
from streambank.store.failures import repeats_hide_outcome, translated


def said(code, *reasons, status=400, retries=0):
    response = {
        "Error": {"Code": code, "Message": "m"},
        "ResponseMetadata": {"HTTPStatusCode": status, "RetryAttempts": retries},
    }
    if reasons:
        response["CancellationReasons"] = [{"Code": reason} for reason in reasons]
    return ClientError(response, "TransactWriteItems")


@pytest.mark.parametrize(
    "code",
    [
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ThrottlingException",
        "LimitExceededException",
        "InternalServerError",
        "ServiceUnavailable",
        "InternalFailure",
        "TransactionInProgressException",
    ],
)
def test_throttles_and_faults_of_aws_are_out_of_reach(code):
    """A throttle and a failure on AWS's side leave the outcome open, and keep their code."""
    failure = translated(said(code))
    assert isinstance(failure, OutOfReach)
    assert failure.code == code


def test_a_single_write_that_met_a_transaction_wrote_nothing():
    """It is a conflict in which no condition was looked at."""
    failure = translated(said("TransactionConflictException"))
    assert isinstance(failure, Conflict)
    assert (failure.is_contention, failure.failed(0)) == (True, False)


@pytest.mark.parametrize(
    ("reasons", "is_contention"),
    [
        (("TransactionConflict", "None"), True),
        (("None", "TransactionConflict"), True),
        (("ConditionalCheckFailed", "TransactionConflict"), False),
        (("ConditionalCheckFailed",), False),
        ((), False),
    ],
)
def test_contention_is_what_failed_no_condition(reasons, is_contention):
    """Where a condition failed as well, the condition decides."""
    assert Conflict(reasons).is_contention is is_contention


@pytest.mark.parametrize("status", [500, 502, 503, 599])
def test_any_5xx_is_out_of_reach(status):
    """A status of the 500s leaves the outcome open, whatever its code."""
    assert isinstance(translated(said("Whatever", status=status)), OutOfReach)


@pytest.mark.parametrize(
    "error", [ReadTimeoutError(endpoint_url="https://x"), EndpointConnectionError(endpoint_url="https://x")]
)
def test_the_network_is_out_of_reach(error):
    """A timeout or a lost connection leaves the outcome open."""
    assert isinstance(translated(error), OutOfReach)


def test_a_failed_condition_is_a_conflict():
    """A single write whose condition failed wrote nothing."""
    failure = translated(said("ConditionalCheckFailedException"))
    assert isinstance(failure, Conflict)
    assert failure.failed(0)


@pytest.mark.parametrize(
    "reasons",
    [
        ("None", "ConditionalCheckFailed"),
        ("TransactionConflict",),
        ("ConditionalCheckFailed", "None", "TransactionConflict"),
    ],
)
def test_a_cancelled_transaction_is_a_conflict(reasons):
    """Its reasons are kept, one for each action."""
    failure = translated(said("TransactionCanceledException", *reasons))
    assert isinstance(failure, Conflict)
    assert failure.reasons == reasons


@pytest.mark.parametrize("throttle", ["ThrottlingError", "ProvisionedThroughputExceeded"])
def test_a_throttled_action_is_a_throttle(throttle):
    """A transaction that was cancelled for load is to be repeated, not read again."""
    failure = translated(said("TransactionCanceledException", "None", throttle, "ConditionalCheckFailed"))
    assert isinstance(failure, OutOfReach)


def test_a_refusal_is_a_fault_of_ours():
    """A validation error, inside a transaction too, is never repeated and stays what it is."""
    refused = said("ValidationException")
    assert translated(refused) is refused
    inside = translated(said("TransactionCanceledException", "None", "ValidationError"))
    assert isinstance(inside, ClientError)
    for code in ("AccessDeniedException", "ResourceNotFoundException", "IdempotentParameterMismatchException"):
        assert isinstance(translated(said(code)), ClientError)


def test_any_other_error_stays_itself():
    """A bug is not dressed up as a failure of the store."""
    bug = KeyError("x")
    assert translated(bug) is bug


def test_a_hidden_repeat_is_noticed():
    """botocore's own repeats are told by the reply; an error without one hides nothing."""
    assert repeats_hide_outcome(said("x", retries=1)) is True
    assert repeats_hide_outcome(said("x")) is False
    assert repeats_hide_outcome(ReadTimeoutError(endpoint_url="https://x")) is False
    assert repeats_hide_outcome(KeyError("x")) is False
