import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank import __version__, errors
from streambank.wire import http

PROJECT = "projects/p/locations/us-central1/"


def at(path):
    return http.bank_path({"rawPath": path})


def shown(reply):
    return json.loads(reply["body"])


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
@pytest.mark.parametrize("prefix", ["", PROJECT])
@pytest.mark.parametrize("collection", ["reasoningEngines", "memoryBanks"])
@pytest.mark.parametrize(
    "rest", ["", "/memories", "/memories:ingestEvents", ":ingestEvents", "/memories/m1/revisions/2"]
)
def test_every_spelling_of_a_banks_path(version, prefix, collection, rest):
    """Both versions, both collections, with and without a project: the bank decides, the parent is echoed."""
    place = at(f"/{version}/{prefix}{collection}/1234{rest}")
    assert place == http.BankPath(prefix + collection, "1234", rest)
    assert place.bank_name == f"{prefix}{collection}/1234"


@pytest.mark.parametrize("path", [f"/v1/{PROJECT}reasoningEngines", "/v1beta1/memoryBanks"])
def test_a_collection_has_no_bank(path):
    """Listing and creating banks happens above any bank."""
    assert (at(path).bank, at(path).rest) == ("", "")


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/v1",
        "/v2/reasoningEngines/1",
        "/v1/engines/1",
        "/v1/projects/p/reasoningEngines/1",
        "/v1/projects//locations/l/reasoningEngines/1",
        "/v1/projects/p/locations/l/m/reasoningEngines/1",
        "/v1/reasoningEngines/",
        "/v1/reasoningEngines//memories",
        "/v1/reasoningEngines/a%2Fb",
        "/v1/reasoningEngines/a b",
        "/v1/reasoningEngines/a#b/memories",
        "/v1/reasoningEngines/" + "b" * 37,
        "/v1/reasoningEngines/b\n",
        "v1/reasoningEngines/1",
    ],
)
def test_other_paths_lead_nowhere(path):
    """Whatever is no path of a bank is 404, an id that no bank can have too."""
    with pytest.raises(errors.NotFound):
        at(path)


def test_an_event_without_a_path_leads_nowhere():
    """An event that is none of API Gateway's is not found rather than broken."""
    with pytest.raises(errors.NotFound):
        http.bank_path({})


def test_headers_are_found_in_lower_case():
    """API Gateway writes names in lower case, and may send no headers at all."""
    event = {"headers": {"x-idempotency-key": "k"}}
    assert http.header(event, "X-Idempotency-Key") == "k"
    assert http.header({}, "x") is http.header({"headers": None}, "x") is None


def test_a_body_may_be_base64():
    """A body is read whether API Gateway encoded it or not."""
    text = '{"a": "é"}'
    encoded = base64.b64encode(text.encode()).decode()
    assert http.body({"body": text, "isBase64Encoded": False}) == {"a": "é"}
    assert http.body({"body": encoded, "isBase64Encoded": True}) == {"a": "é"}
    assert http.body({"body": text}) == {"a": "é"}


@given(text=st.text())
def test_a_reply_is_json_and_success_is_200(text):
    """Google's SDK takes no other status for a success; text is not escaped more than it must be."""
    reply = http.response({"a": text}, headers={"x-more": "1"})
    headers = {"content-type": "application/json", "x-streambank-version": __version__, "x-more": "1"}
    assert (reply["statusCode"], reply["headers"]) == (200, headers)
    assert json.loads(reply["body"]) == {"a": text}


@pytest.mark.parametrize(
    ("error", "code", "status"),
    [
        (errors.InvalidArgument("f", "p"), 400, "INVALID_ARGUMENT"),
        (errors.PayloadTooLarge("", "p"), 413, "INVALID_ARGUMENT"),
        (errors.FailedPrecondition("p"), 400, "FAILED_PRECONDITION"),
        (errors.NotFound("p"), 404, "NOT_FOUND"),
        (errors.AlreadyExists("p"), 409, "ALREADY_EXISTS"),
        (errors.Unavailable("p"), 503, "UNAVAILABLE"),
        (errors.Conflict(), 503, "UNAVAILABLE"),
        (errors.OutOfReach("Throttled"), 503, "UNAVAILABLE"),
        (errors.ModelUnavailable("p"), 503, "UNAVAILABLE"),
        (errors.ModelOutputInvalid("p"), 503, "UNAVAILABLE"),
        (errors.ModelNotConfigured("p"), 503, "UNAVAILABLE"),
    ],
)
def test_the_table_of_statuses(error, code, status):
    """Each error has its HTTP status, and the body repeats both in Google's shape."""
    reply = http.error_response(error)
    assert reply["statusCode"] == code
    found = shown(reply)["error"]
    assert (found["code"], found["status"], found["message"]) == (code, status, str(error))


def _kinds(kind):
    """Return the service's own errors: the client's, below the same root, reach no caller over HTTP."""
    own = [below for below in kind.__subclasses__() if below.__module__ == errors.__name__]
    return [kind, *(leaf for below in own for leaf in _kinds(below))]


@pytest.mark.parametrize("kind", _kinds(errors.StreambankError)[1:])
def test_every_error_has_a_status(kind):
    """No branch of the tree is missing from the table."""
    arguments = {errors.InvalidArgument: ("f", "p"), errors.IdTaken: (errors.Conflict(), ["m"])}
    arguments[errors.MethodNotAllowed] = ("GET", ["POST"])
    made = kind(*next((those for base, those in arguments.items() if issubclass(kind, base)), ("p",)))
    assert 400 <= http.error_response(made)["statusCode"] < 600


def test_a_violation_names_its_field():
    """details hold a BadRequest with the field as the caller spelled it and what is wrong with it."""
    found = shown(http.error_response(errors.InvalidArgument("scope.user_id", "must be a string")))["error"]
    violation = {"field": "scope.user_id", "description": "must be a string"}
    assert found["details"] == [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [violation]}]
    assert found["message"] == "scope.user_id: must be a string"


@pytest.mark.parametrize("error", [errors.InvalidArgument("", "not JSON"), errors.NotFound("gone")])
def test_without_a_field_there_are_no_details(error):
    """An error about no field has no empty violation."""
    assert "details" not in shown(http.error_response(error))["error"]


@pytest.mark.parametrize(
    ("error", "seconds"),
    [(errors.Unavailable("busy", 7), "7"), (errors.Conflict(), "1"), (errors.OutOfReach("Throttled"), "1")],
)
def test_unavailable_says_when_to_come_back(error, seconds):
    """503 carries Retry-After, which clients obey."""
    assert http.error_response(error)["headers"]["retry-after"] == seconds


def test_other_errors_do_not_ask_for_a_repeat():
    """Nothing but 503 is worth repeating as it is."""
    assert "retry-after" not in http.error_response(errors.NotFound("gone"))["headers"]


def test_a_fault_of_ours_shows_nothing():
    """Callers see a bare 500, whatever the fault said; whoever logs hears of it once."""
    faults = []

    def respond():
        raise RuntimeError("the secret text of an event")

    reply = http.to_response(respond, on_fault=faults.append)
    assert reply == http.internal_error()
    assert reply["statusCode"] == 500
    assert shown(reply) == {"error": {"code": 500, "message": "internal error", "status": "INTERNAL"}}
    assert [type(fault) for fault in faults] == [RuntimeError]


def test_an_error_of_the_callers_is_no_fault():
    """An expected error becomes its reply and is not logged as a fault."""

    def respond():
        raise errors.NotFound("gone")

    faults = []
    assert http.to_response(respond, on_fault=faults.append)["statusCode"] == 404
    assert faults == []
    assert http.to_response(lambda: http.response({}), on_fault=faults.append) == http.response({})


@pytest.mark.parametrize(
    ("text", "is_base64"),
    [("a" * 200_000, False), ("ä" * 90_000, False), ("ä" * 200_000, True), ('"' * 200_000, True)],
    ids=["ascii", "short", "other-script", "quotes"],
)
def test_a_large_body_is_sent_in_its_shorter_form(text, is_base64):
    """A large body goes in base64 where that is shorter than the escaped text; what it says is the same."""
    response = http.response({"t": text})
    assert response.get("isBase64Encoded", False) is is_base64
    body = base64.b64decode(response["body"]).decode() if is_base64 else response["body"]
    assert json.loads(body) == {"t": text}
    assert http.sent_bytes(body) == (
        len(response["body"]) if is_base64 else min(len(json.dumps(body)), http.base64_bytes(body))
    )
