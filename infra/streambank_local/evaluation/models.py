"""The model that is evaluated: the embedded one, or another as a deployment would build it from the environment."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import boto3
from moto.core.models import botocore_stubber
from samtranslator.yaml_helper import yaml_parse

import streambank_local.basic
from streambank.llm.dialogue import prompts
from streambank.llm.ports import ModelProvider
from streambank.rules.model_choice import default_model
from streambank.settings import ModelSettings, Settings
from streambank.wiring import models, overrides
from streambank_local.basic.models import BasicModels
from streambank_local.installation import stack_folder

EMBEDDED = ("basic", "embedded")
_ENDPOINT = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"
# A server that stands in for Bedrock checks no signature, but boto3 makes one.
_STAND_IN_ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
_STAND_IN_REGION = "us-east-1"
_OPENAI_VARIABLES = ("OPENAI_BASE_URL", "MODEL_ID", "EMBEDDING_MODEL_ID")


class ModelProblem(Exception):
    """The model cannot be used; the message says what to do."""


@dataclass(frozen=True, slots=True)
class EvaluatedModel:
    """A model under a *name* that also tells the versions of all that makes its answers."""

    name: str
    provider: ModelProvider
    prices: str = ""


def configured(choice: str | None, environment: Mapping[str, str]) -> EvaluatedModel:
    """Return the model that *choice* names, else the one that the environment does. Raises ModelProblem."""
    text = choice or environment.get("STREAMBANK_MODEL") or EMBEDDED[0]
    kind, _, model_id = text.partition(":")
    if kind in EMBEDDED and not model_id:
        sources = sorted(Path(streambank_local.basic.__file__).parent.glob("*.py"))
        return EvaluatedModel(f"basic@{_digest(path.read_bytes() for path in sources)}", BasicModels())
    adapters = {"bedrock": _bedrock, "openai": _openai}
    if kind not in adapters:
        raise ModelProblem(
            f"the model is {text!r}; it can be basic, bedrock, openai, bedrock:MODEL-ID or openai:MODEL-ID"
        )
    return adapters[kind](model_id, environment)


def _openai(model_id: str, environment: Mapping[str, str]) -> EvaluatedModel:
    variables = {**environment, **({"MODEL_ID": model_id} if model_id else {})}
    missing = [name for name in _OPENAI_VARIABLES if not variables.get(name)]
    if missing:
        raise ModelProblem(f"openai needs {', '.join(missing)}")
    try:
        chosen = Settings.read({**variables, "TABLE_NAME": "", "STREAMBANK_MODEL": "openai"}).models
    except ValueError as error:
        raise ModelProblem(str(error)) from None
    name = f"openai:{chosen.model}, {chosen.embedding_model}, {_prompt_versions()}"
    prices = _prices(chosen.model, environment.get("MODEL_PRICES", ""))
    return EvaluatedModel(name, _past_the_emulator(chosen), prices)


def _bedrock(model_id: str, environment: Mapping[str, str]) -> EvaluatedModel:
    try:
        settings = Settings.read({"TABLE_NAME": "", **_template_models(), **environment})
    except ValueError as error:
        raise ModelProblem(str(error)) from None
    chosen = replace(settings.models, model=model_id) if model_id else settings.models
    region = chosen.region or _region() or _STAND_IN_REGION
    chosen = replace(chosen, model=chosen.model or default_model(region))
    if environment.get(_ENDPOINT):
        chosen = replace(chosen, region=region)
    elif not (chosen.region or _region()):
        raise ModelProblem("there is no AWS region: set AWS_REGION")
    elif not (environment.get("AWS_BEARER_TOKEN_BEDROCK") or boto3.Session().get_credentials()):
        raise ModelProblem(f"there are no AWS credentials; set them, or {_ENDPOINT} for a server of your own")
    guardrail = f", guardrail {chosen.guardrail}:{chosen.guardrail_version}" if chosen.guardrail else ""
    name = f"bedrock:{chosen.model}, {chosen.embedding_model}{guardrail}, {_prompt_versions()}"
    with _stand_in_credentials(environment):
        prices = _prices(chosen.model, environment.get("MODEL_PRICES", ""))
        return EvaluatedModel(name, _past_the_emulator(chosen), prices)


def _prompt_versions() -> str:
    return ", ".join(
        f"{name}@{_digest([prompts.stable_text(name).encode()])}" for name in (prompts.EXTRACT, prompts.CONSOLIDATE)
    )


def _past_the_emulator(chosen: ModelSettings) -> ModelProvider:
    """Return the adapters over a client that the emulator of the other services does not answer."""
    before, overrides.current.models = overrides.current.models, None
    try:
        provider = models.provider(chosen)
    finally:
        overrides.current.models = before
    if isinstance(provider, models.BedrockModels):
        provider.client.meta.events.unregister("before-send", botocore_stubber)
    return provider


def _prices(model: str, text: str) -> str:
    """Return MODEL_PRICES with the price of *model* as the default, which is the price of a bank without a model."""
    entries = [entry.split("=", 1) for entry in text.split(",") if entry.strip()]
    prices = {name.strip(): price.strip() for name, price in entries}
    if model in prices:
        prices["default"] = prices[model]
    return ",".join(f"{name}={price}" for name, price in prices.items())


def _template_models() -> dict[str, str]:
    """Return the models that a deployment has where its parameters are left alone."""
    parameters = yaml_parse((stack_folder() / "template.yaml").read_text(encoding="utf-8"))["Parameters"]
    names = {"MODEL_ID": "ModelId", "EMBEDDING_MODEL_ID": "EmbeddingModelId"}
    return {variable: str(parameters[parameter].get("Default", "")) for variable, parameter in names.items()}


def _region() -> str | None:
    region: str | None = boto3.Session().region_name
    return region


@contextmanager
def _stand_in_credentials(environment: Mapping[str, str]) -> Iterator[None]:
    """Provide credentials for a server at the endpoint variable if there are none."""
    missing = environment.get(_ENDPOINT) and not boto3.Session().get_credentials()
    os.environ.update(_STAND_IN_ENVIRONMENT if missing else {})
    try:
        yield
    finally:
        for name in _STAND_IN_ENVIRONMENT if missing else ():
            del os.environ[name]


def _digest(parts: Iterable[bytes]) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:8]
