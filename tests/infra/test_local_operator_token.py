"""The operator's token of a service that other machines can reach."""

import pytest

from streambank_local.__main__ import main
from streambank_local.callers.operator_token import MIN_TOKEN_LENGTH, VARIABLE, OperatorToken, of_host
from streambank_local.http.payload import Request, Response

SECRET = "a secret of the operator's own"
OPERATOR = OperatorToken(SECRET)


def request(path: str, *headers: tuple[str, str]) -> Request:
    return Request("POST", path, headers)


@pytest.mark.parametrize(
    "headers",
    [
        [("Authorization", "Bearer local")],
        [("authorization", "bearer  local ")],
        [("x-goog-api-key", "local")],
        [("X-Goog-Api-Key", " local")],
        [("authorization", "Bearer local"), ("authorization", "Bearer local")],
        [("authorization", f"Bearer {SECRET}"), ("x-goog-api-key", "local")],
    ],
)
@pytest.mark.parametrize("path", ["/v1/memoryBanks/default/memories", "/_local/keys"])
def test_the_token_that_everybody_knows_opens_nothing(path: str, headers: list[tuple[str, str]]) -> None:
    """`local` is refused in each header that may have it, however it is written, and beside another one."""
    checked = OPERATOR.check(request(path, *headers))
    assert isinstance(checked, Response)
    assert checked.status == 401


@pytest.mark.parametrize("path", ["/_local/keys", "/_local/clock:advance", "/%5Flocal/keys", "/_local/counters"])
def test_local_routes_need_the_operators_token(path: str) -> None:
    """Without the token nobody makes keys or moves the clock, however the path is written."""
    for headers in ([], [("authorization", "Bearer sbk-other")]):
        checked = OPERATOR.check(request(path, *headers))
        assert isinstance(checked, Response)
        assert checked.status == 401


@pytest.mark.parametrize("header", [("Authorization", f"Bearer {SECRET}"), ("x-goog-api-key", SECRET)])
def test_the_operators_token_stands_for_local(header: tuple[str, str]) -> None:
    """The request goes on with `local` as its only credential; its other headers stay."""
    checked = OPERATOR.check(request("/_local/keys", header, ("accept", "text/plain")))
    assert checked == request("/_local/keys", ("accept", "text/plain"), ("authorization", "Bearer local"))


def test_other_credentials_go_on_to_the_functions() -> None:
    """A key is not looked at here."""
    with_key = request("/v1/memoryBanks/default/memories", ("authorization", "Bearer sbk-key"))
    assert OPERATOR.check(with_key) is with_key


def test_a_token_is_made_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loopback has none; elsewhere a new one is printed, one that is given is not, and a short one is refused."""
    monkeypatch.delenv(VARIABLE, raising=False)
    assert of_host("127.0.0.1") == (None, "local")
    made, printed = of_host("0.0.0.0")
    assert made == OperatorToken(printed)
    assert len(printed) >= MIN_TOKEN_LENGTH
    assert of_host("0.0.0.0")[1] != printed
    monkeypatch.setenv(VARIABLE, SECRET)
    assert of_host("0.0.0.0") == (OPERATOR, f"that of {VARIABLE}")
    monkeypatch.setenv(VARIABLE, "short")
    with pytest.raises(ValueError, match="24 characters at least"):
        of_host("0.0.0.0")


@pytest.mark.parametrize("arguments", [["--host", "0.0.0.0"], ["--host", "10.0.0.1"], ["--host", "no address"]])
def test_other_addresses_need_a_mode(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Without --auth local mode serves this machine only."""
    with pytest.raises(SystemExit):
        main(arguments)
    assert "--host" in capsys.readouterr().err
