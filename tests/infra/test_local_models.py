"""Real models in local mode: one client has the user's own credentials, and every other one has none."""

import os
import socket
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest

from streambank_local.parameters import parameters_of
from streambank_local.service import LocalService
from streambank_local.user_aws import ENDPOINT, UserAws
from tests.bedrock.converse_server import Bedrock, running
from tests.openai import chat_server
from tests.openai.service import openai_service

ROOT = Path(__file__).resolve().parents[2]
BANK = "/v1/projects/p/locations/l/reasoningEngines/default"
SCOPE = {"user_id": "u"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of a user with a profile of their own, and endpoints for other services in the environment."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    keys = "aws_access_key_id = USERS-KEY\naws_secret_access_key = users-secret\n"
    (tmp_path / "credentials").write_text(f"[mine]\n{keys}")
    (tmp_path / "config").write_text("[profile mine]\nregion = eu-west-1\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_PROFILE", "mine")
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:1")
    return tmp_path


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hosts that anybody looks up; none but this machine is found."""
    hosts: list[str] = []
    look_up = socket.getaddrinfo

    def recorded(host: str, *arguments: Any, **named: Any) -> Any:
        if host in ("127.0.0.1", "localhost"):
            return look_up(host, *arguments, **named)
        hosts.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "no such host")

    monkeypatch.setattr(socket, "getaddrinfo", recorded)
    return hosts


def remember(service: LocalService, text: str) -> list[str]:
    """Let a window be generated, and return the memories of its scope."""
    with httpx.Client(base_url=service.base_url, headers={"authorization": "Bearer local"}, timeout=60) as client:
        event = {"content": {"role": "user", "parts": [{"text": text}]}}
        source = {"scope": SCOPE, "directContentsSource": {"events": [event]}, "forceFlush": True}
        client.post(f"{BANK}/memories:ingestEvents", json=source).raise_for_status()
        assert service.wait_until_idle()
        reply = client.post(f"{BANK}/memories:retrieve", json={"scope": SCOPE})
        return [one["memory"]["fact"] for one in reply.json().get("retrievedMemories", [])]


def test_bedrock_is_called_as_the_user_and_nothing_else_is(home: Path, hosts: list[str]) -> None:
    """With a profile alone, Bedrock in the profile's region is the one host that is called."""
    with LocalService(parameters={"Model": "bedrock"}, timer_enabled=False, user_aws=UserAws.load()) as service:
        assert remember(service, "I keep bees") == []
        others = {boto3.client(name)._request_signer._credentials.access_key for name in ("dynamodb", "s3", "sts")}
        assert "USERS-KEY" not in others
        assert boto3.client("sts").get_caller_identity()["Account"] == "123456789012"
    assert os.environ["AWS_PROFILE"] == "mine"
    assert set(hosts) == {"bedrock-runtime.eu-west-1.amazonaws.com"}


def test_a_request_to_bedrock_has_the_users_credentials(home: Path, hosts: list[str]) -> None:
    """The server that the profile names gets requests that are signed with the profile's key, for its region."""
    with running(Bedrock()) as server:
        with (home / "config").open("a") as config:
            config.write(f"services = own\n[services own]\nbedrock_runtime =\n  endpoint_url = {server.url}\n")
        with LocalService(parameters={"Model": "bedrock"}, timer_enabled=False, user_aws=UserAws.load()) as service:
            assert remember(service, "I keep bees") == ["I keep bees"]
    assert {str(one).split("/")[0].split("=")[1] for one in server.authorizations} == {"USERS-KEY"}
    assert {str(one).split("/")[2] for one in server.authorizations} == {"eu-west-1"}
    assert hosts == []


def test_a_server_of_ones_own_gets_no_credentials_of_the_user(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The endpoint variable names a stand-in for Bedrock: it is called with those of local mode."""
    with running(Bedrock()) as server:
        monkeypatch.setenv(ENDPOINT, server.url)
        with LocalService(parameters={"Model": "bedrock"}, timer_enabled=False) as service:
            assert remember(service, "I keep bees") == ["I keep bees"]
    assert not any("USERS-KEY" in str(one) for one in server.authorizations)


def test_a_server_with_openais_api_is_called_past_the_emulator(home: Path, hosts: list[str]) -> None:
    """It gets the key of the environment, and no other host is called."""
    server = chat_server.OpenAi()
    os.environ["OPENAI_API_KEY"] = "sk-own"
    try:
        with openai_service(server) as service:
            assert remember(service, "I keep bees") == ["I keep bees"]
    finally:
        del os.environ["OPENAI_API_KEY"]
    assert set(server.authorizations) == {"Bearer sk-own"}
    assert set(server.paths) == {"/v1/chat/completions", "/v1/embeddings"}
    assert hosts == []


@pytest.mark.parametrize(
    ("left_out", "message"), [("AWS_PROFILE", "needs AWS credentials"), ("region", "set AWS_REGION")]
)
def test_what_is_missing_for_bedrock_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch, left_out: str, message: str
) -> None:
    """Local mode does not start, and says what is not there."""
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    if left_out == "region":
        (home / "config").write_text("[profile mine]\n")
    else:
        monkeypatch.delenv(left_out)
    with pytest.raises(ValueError, match=message):
        UserAws.load()


def test_every_setting_of_the_template_can_be_set_by_its_variable() -> None:
    """The variables of a deployed function set the parameters that they come from; an empty one sets nothing."""
    chosen = {
        "MODEL_TIMEOUT_SECONDS": "5",
        "GUARDRAIL_ID": "g",
        "CALL_TOKEN_BUDGET": "2000",
        "MODEL_ID": "m",
        "TABLE_NAME": "t",
    }
    assert parameters_of(ROOT, {**chosen, "MODEL_PRICES": ""}) == {
        "ModelTimeoutSeconds": "5",
        "GuardrailId": "g",
        "CallTokenBudget": "2000",
        "ModelId": "m",
        "OpenAiModelId": "m",
    }
