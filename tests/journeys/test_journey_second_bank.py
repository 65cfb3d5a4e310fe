"""A request that names a second bank is judged for it, however its caller was authenticated."""

from __future__ import annotations

import json
import secrets
from dataclasses import replace
from typing import Any

import boto3
import pytest

from streambank import telemetry
from streambank.api import app
from streambank.model.api_key import ID_BYTES, SECRET_BYTES, ApiKey, Token
from streambank.model.principal import Principal, Role
from streambank.settings import AuthMode
from streambank.store.api_keys import ApiKeys
from streambank.wire import http
from streambank.wiring.authentication import authenticator
from tests.journeys.caller import VERSION, Caller, Document
from tests.journeys.crowding import wiring
from tests.stack.deployed import Deployed

ADMIN = {"streambank_roles": "admin", "streambank_scope": "*"}
SIGNED = {"iam": {"userArn": "arn:aws:iam::123456789012:user/me"}}


@pytest.fixture(autouse=True)
def _in_process() -> None:
    if Deployed.named():
        pytest.skip("needs the service in this process")


def asked(mode: AuthMode, path: str, body: Document, authorizer: Any = None, token: str = "") -> tuple[int, Document]:
    """Return what the API function of the running service answers under another mode."""
    deployment = wiring().deployment
    other = replace(deployment, settings=replace(deployment.settings, auth_mode=mode))
    event = {
        "rawPath": f"{VERSION}/{path}",
        "headers": {"authorization": f"Bearer {token}"} if token else {},
        "requestContext": {"http": {"method": "POST"}, "authorizer": authorizer or {}},
        "body": json.dumps(body),
    }
    judged = replace(wiring(), authenticate=authenticator(other))
    reply = http.to_response(lambda: app.respond(event, judged), on_fault=telemetry.log_fault)
    return reply["statusCode"], json.loads(reply["body"])


@pytest.fixture
def banks(caller: Caller) -> tuple[str, str]:
    """A bank with a memory, and another one."""
    bank = caller.bank()
    caller.post(f"{bank}/memories", {"fact": "I keep bees.", "scope": caller.scope()})
    return bank, caller.bank()


@pytest.fixture
def source(caller: Caller, banks: tuple[str, str]) -> str:
    """The export of the first bank."""
    exported: str = caller.post(f"{banks[0]}:export", {})["response"]["source"]
    return exported


def id_of(bank: str) -> str:
    return bank.rsplit("/", 1)[1]


def key_of(*banks: str) -> str:
    """Make a key of an admin of *banks* and return it."""
    token = Token.from_random_bytes(secrets.token_bytes(ID_BYTES + SECRET_BYTES))
    holder = Principal("p", tuple(map(id_of, banks)), frozenset([Role.ADMIN]))
    ApiKeys(wiring().deployment.table).create(ApiKey(token.key_id, token.digest, holder, wiring().now()))
    return token.reveal()


def claimed(*banks: str) -> Document:
    """Return what API Gateway says of an admin of *banks*."""
    return {"jwt": {"claims": ADMIN | {"streambank_banks": " ".join(map(id_of, banks))}}}


def test_a_key_reads_the_exports_of_its_own_banks(banks: tuple[str, str], source: str) -> None:
    """Mode `keys`: a key of the importing bank alone is told that there is no such bank."""
    call = f"{banks[1]}:import", {"source": source}
    assert asked(AuthMode.KEYS, *call, token=key_of(banks[1]))[0] == 404
    assert asked(AuthMode.KEYS, *call, token=key_of(*banks))[1]["done"]


def test_a_token_reads_the_exports_of_its_own_banks(banks: tuple[str, str], source: str) -> None:
    """Mode `jwt`: likewise."""
    call = f"{banks[1]}:import", {"source": source}
    assert asked(AuthMode.JWT, *call, claimed(banks[1]))[0] == 404
    assert asked(AuthMode.JWT, *call, claimed(*banks))[1]["done"]


def test_a_signature_reads_no_other_banks_export(banks: tuple[str, str], source: str) -> None:
    """Mode `iam`: the path alone was judged, so another bank's export is refused, whether or not it exists."""
    for named in (source, "nowhere/export-1/manifest.json"):
        status, reply = asked(AuthMode.IAM, f"{banks[1]}:import", {"source": named}, SIGNED)
        assert (status, reply["error"]["status"]) == (403, "PERMISSION_DENIED")
        assert f"copy the export under {id_of(banks[1])}/" in reply["error"]["message"]


def test_a_signature_imports_what_was_copied_into_its_bank(caller: Caller, banks: tuple[str, str], source: str) -> None:
    """Mode `iam`: who may read the bucket copies an export under the bank's own prefix and imports it there."""
    own, s3 = f"{id_of(banks[1])}/export-900000000001/", boto3.client("s3")
    bucket, folder = caller.service.stack.environment()["EXPORT_BUCKET"], source.removesuffix("manifest.json")
    for entry in s3.list_objects_v2(Bucket=bucket, Prefix=folder)["Contents"]:
        name = entry["Key"].removeprefix(folder)
        s3.copy_object(Bucket=bucket, Key=own + name, CopySource={"Bucket": bucket, "Key": entry["Key"]})
    status, reply = asked(AuthMode.IAM, f"{banks[1]}:import", {"source": f"{own}manifest.json"}, SIGNED)
    assert (status, reply["response"]["imported"]["memories"]) == (200, 1)


def test_an_open_service_imports_from_any_bank(banks: tuple[str, str], source: str) -> None:
    """Local mode without keys: everybody is an operator of every bank."""
    assert asked(AuthMode.OPEN, f"{banks[1]}:import", {"source": source})[1]["done"]


@pytest.mark.parametrize("mode", [AuthMode.IAM, AuthMode.OPEN])
def test_no_other_body_reaches_another_bank(caller: Caller, banks: tuple[str, str], mode: AuthMode) -> None:
    """A session or a revision of another bank, named in full, is not read: callers of every bank are no exception."""
    scope = caller.scope()
    session = caller.post(f"{banks[0]}/sessions", {"userId": "u"})["response"]["name"]
    own = caller.post(f"{banks[1]}/memories", {"fact": "I keep hens.", "scope": scope})["response"]["name"]
    theirs = own.replace(banks[1], banks[0])
    from_session = {"vertexSessionSource": {"session": session}, "scope": scope}
    assert asked(mode, f"{banks[1]}/memories:generate", from_session, SIGNED)[0] == 404
    for named, status in ((theirs, 400), (own, 200)):
        body = {"targetRevisionId": f"{named}/revisions/1"}
        assert asked(mode, f"{own}:rollback", body, SIGNED)[0] == status, named
