"""The API key: read when it is first needed, once, and never shown."""

import boto3
import pytest
from moto import mock_aws

from streambank import errors
from streambank.settings import OpenAiSettings, Settings
from streambank.wiring.model_key import ModelKey

NAME = "/streambank/model-key"


@pytest.fixture
def ssm(monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        yield boto3.client("ssm")


def test_a_parameter_is_read_once(ssm):
    """The key of a deployed stack is a SecureString; a line end after it is no part of it."""
    ssm.put_parameter(Name=NAME, Value="sk-secret\n", Type="SecureString")
    key = ModelKey(OpenAiSettings(key_parameter=NAME))
    assert key() == "sk-secret"
    ssm.delete_parameter(Name=NAME)
    assert key() == "sk-secret"
    assert "sk-secret" not in repr(key)


def test_a_parameter_that_comes_later_is_read_then(ssm):
    """Without it the model is not configured; nothing needs a new process once it is there."""
    key = ModelKey(OpenAiSettings(key_parameter=NAME))
    with pytest.raises(errors.ModelNotConfigured, match="ParameterNotFound"):
        key()
    ssm.put_parameter(Name=NAME, Value="sk-secret", Type="SecureString")
    assert key() == "sk-secret"


def test_a_key_of_the_environment_needs_no_parameter():
    """In local mode the variable holds the key; without both there is none."""
    settings = Settings.read({"TABLE_NAME": "t", "OPENAI_API_KEY": " sk-secret ", "OPENAI_KEY_PARAMETER": NAME})
    assert ModelKey(settings.models.openai)() == "sk-secret"
    assert "sk-secret" not in repr(settings)
    assert ModelKey(OpenAiSettings())() == ""


def test_embeddings_may_be_on_another_server():
    """Without a URL of their own they are on the server of the model; a slash at the end does no harm."""
    one = Settings.read({"TABLE_NAME": "t", "OPENAI_BASE_URL": "http://a:1/v1/"}).models.openai
    other = {"TABLE_NAME": "t", "OPENAI_BASE_URL": "http://a:1/v1", "OPENAI_EMBEDDING_BASE_URL": "http://b:2"}
    assert (one.base_url, one.embedding_base_url) == ("http://a:1/v1", "http://a:1/v1")
    assert Settings.read(other).models.openai.embedding_base_url == "http://b:2"
