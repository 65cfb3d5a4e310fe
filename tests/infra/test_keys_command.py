"""The command that makes, lists and revokes keys, against an emulated table."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from streambank.model.api_key import Token
from streambank.rules import access
from streambank.store.api_keys import ApiKeys
from streambank_local.command import stack_keys as keys
from tests import aws
from tests.world import World

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Call the command and return its status and what it printed."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")

    def run(command: str, *arguments: str, table: str = aws.TABLE) -> tuple[int, str, str]:
        status = keys.main([command, "--table", table, *arguments])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


def made(run: Run, *arguments: str) -> Token:
    status, out, _ = run("create", *arguments)
    token = Token.parse(out.strip())
    assert status == 0
    assert token
    return token


def listed(run: Run) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run("list")[1].splitlines()]


def test_a_key_is_made_and_printed_once(run: Run, world: World) -> None:
    """What is printed opens the key that is stored, and nothing prints it again."""
    token = made(run, "--bank", "default", "--bank", "1", "--role", "read", "--role", "ingest", "--name", "app")
    key = ApiKeys(world.table).find(token.key_id)
    assert key
    assert access.admits(key, token, now=datetime.now(UTC))
    principal = key.principal
    assert (principal.name, principal.banks, principal.roles) == ("app", ("default", "1"), {"read", "ingest"})
    assert (principal.scope, key.expires) == (None, None)
    assert token.secret not in run("list")[1]


def test_a_key_may_be_bound_and_end(run: Run) -> None:
    """Scope pairs and days are stored, and listed."""
    made(run, "--all-banks", "--role", "read", "--scope", "user_id=1=2", "--scope", "app=x", "--days", "90")
    [shown] = listed(run)
    assert (shown["banks"], shown["scope"], shown["state"]) == (["*"], {"user_id": "1=2", "app": "x"}, "live")
    left = datetime.fromisoformat(shown["expires"]) - datetime.now(UTC)
    assert timedelta(days=89, hours=23) < left < timedelta(days=90)


def test_a_revoked_key_is_listed_as_such(run: Run) -> None:
    """Revoking takes the id alone."""
    token = made(run, "--all-banks", "--role", "admin")
    assert run("revoke", token.key_id)[0] == 0
    assert [(key["id"], key["state"]) for key in listed(run)] == [(token.key_id, "revoked")]


@pytest.mark.parametrize(
    "arguments",
    [
        ["create", "--role", "read"],
        ["create", "--bank", "b"],
        ["create", "--bank", "b", "--all-banks", "--role", "read"],
        ["create", "--bank", "a#b", "--role", "read"],
        ["create", "--bank", "*", "--role", "read"],
        ["create", "--bank", "b", "--role", "root"],
        ["create", "--bank", "b", "--role", "read", "--scope", "user_id"],
        ["create", "--bank", "b", "--role", "read", "--scope", "user_id="],
        ["create", "--bank", "b", "--role", "read", "--days", "0"],
        ["create", "--bank", "b", "--role", "read", "--days", "-1"],
        ["create", "--bank", "b", "--role", "read", "--days", "4000"],
        ["revoke", "not an id"],
        ["nothing"],
    ],
)
def test_what_cannot_be_meant_is_refused(run: Run, world: World, arguments: list[str]) -> None:
    """A key without banks or roles, for a name that no bank has, or with half a scope is not made."""
    with pytest.raises(SystemExit) as ended:
        run(*arguments)
    assert ended.value.code == 2
    assert aws.dump(world.client) == []


@pytest.mark.parametrize("pairs", [["user_id=*"], ["user_id=1", "user_id=2"], [f"k{n}=v" for n in range(6)]])
def test_a_binding_obeys_the_rules_of_scopes(run: Run, world: World, pairs: list[str]) -> None:
    """A binding that no scope could hold would refuse everything; one line reports the fault."""
    scope = [word for pair in pairs for word in ("--scope", pair)]
    status, out, err = run("create", "--bank", "b", "--role", "read", *scope)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert aws.dump(world.client) == []


def test_a_whole_key_is_not_repeated_in_a_message(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """Who pastes the key where its id belongs does not find it in a log."""
    token = made(run, "--all-banks", "--role", "read")
    with pytest.raises(SystemExit):
        run("revoke", token.reveal())
    assert token.secret not in capsys.readouterr().err


@pytest.mark.parametrize(("command", "arguments"), [("list", []), ("revoke", ["a" * 16])])
def test_errors_are_one_line(run: Run, command: str, arguments: list[str]) -> None:
    """A table that is not there, a key that is not there: a status and a line, no trace."""
    status, out, err = run(command, *arguments, table="nowhere")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("keys: ")
    assert run("revoke", "a" * 16)[2] == f"keys: there is no key '{'a' * 16}'\n"
