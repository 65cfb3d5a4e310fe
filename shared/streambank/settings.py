"""The settings of a deployment: its environment variables as one typed value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from urllib.parse import urlsplit

from streambank.model.usage import Price
from streambank.rules.model_choice import default_model

# Values of the parameter PersonalDataDetector that name no guardrail.
NO_DETECTOR, COMPREHEND = "NONE", "COMPREHEND"


class AuthMode(StrEnum):
    """How callers are told apart; `open` takes everybody for an admin, and no template offers it."""

    KEYS = "keys"
    JWT = "jwt"
    IAM = "iam"
    OPEN = "open"


class ModelProviderName(StrEnum):
    """Where models come from; local mode has one of its own, `embedded`."""

    BEDROCK = "bedrock"
    OPENAI = "openai"
    EMBEDDED = "embedded"


class ChangeEventDetail(StrEnum):
    """What an event of a change has: names and times, or the memory's text as well."""

    METADATA_ONLY = "METADATA_ONLY"
    FULL = "FULL"


@dataclass(frozen=True, slots=True)
class OpenAiSettings:
    """A server that speaks OpenAI's API, and one for embeddings where that is another.

    The key is *key*, or the value of the parameter *key_parameter* of Systems Manager; without both none is sent.
    """

    base_url: str = ""
    embedding_base_url: str = ""
    key: str = field(default="", repr=False)
    key_parameter: str = ""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The models of a provider; *dimensions* is the length of vectors where the embedding model offers a choice.

    *allowed* are the models that a bank may name beside these two; "*" allows all.
    """

    model: str = ""
    embedding_model: str = ""
    dimensions: int = 512
    max_output_tokens: int = 4_096
    guardrail: str = ""
    guardrail_version: str = "DRAFT"
    timeout_seconds: float = 60.0
    region: str = ""
    allowed: frozenset[str] = frozenset()
    provider: ModelProviderName = ModelProviderName.BEDROCK
    openai: OpenAiSettings = field(default_factory=OpenAiSettings)


@dataclass(frozen=True, slots=True)
class TraceSettings:
    """The OpenTelemetry collector: the URL that takes spans, and the exporter's timeout as its variable has it."""

    endpoint: str
    timeout: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the template sets for a function.

    *personal_data_detector* is COMPREHEND, or the id of a guardrail of Bedrock, or empty.
    """

    table: str
    retention: timedelta
    dedup_horizon: timedelta
    state_machine_arn: str = ""
    export_bucket: str = ""
    auth_mode: AuthMode = AuthMode.KEYS
    daily_tokens: int | None = None
    call_tokens: int = 24_000
    prices: Mapping[str, Price] = field(default_factory=dict)
    models: ModelSettings = field(default_factory=ModelSettings)
    traces: TraceSettings | None = None
    emits_metrics: bool = True
    personal_data_detector: str = ""
    change_event_bus: str = ""
    change_event_detail: ChangeEventDetail = ChangeEventDetail.METADATA_ONLY

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Settings:
        """Return the settings in *environment*.

        Raises:
            KeyError: a variable that has no default is missing.
            ValueError: a variable cannot be understood.
        """
        return cls(
            table=environment["TABLE_NAME"],
            retention=timedelta(days=int(environment.get("EVENT_RETENTION_DAYS", "90"))),
            dedup_horizon=timedelta(days=int(environment.get("DEDUP_HORIZON_DAYS", "90"))),
            state_machine_arn=environment.get("STATE_MACHINE_ARN", ""),
            export_bucket=environment.get("EXPORT_BUCKET", ""),
            auth_mode=AuthMode(environment.get("AUTH_MODE", AuthMode.KEYS)),
            daily_tokens=_limit(environment.get("DAILY_TOKEN_BUDGET", "")),
            call_tokens=int(environment.get("CALL_TOKEN_BUDGET", "24000")),
            prices=_prices(environment.get("MODEL_PRICES", "")),
            models=_models(environment),
            traces=_traces(environment),
            personal_data_detector=_detector(environment.get("PERSONAL_DATA_DETECTOR", "")),
            emits_metrics=environment.get("POWERTOOLS_METRICS_DISABLED", "").lower() != "true",
            change_event_bus=environment.get("CHANGE_EVENT_BUS", ""),
            change_event_detail=ChangeEventDetail(
                environment.get("CHANGE_EVENT_DETAIL", "") or ChangeEventDetail.METADATA_ONLY
            ),
        )


def _models(environment: Mapping[str, str]) -> ModelSettings:
    region = environment.get("BEDROCK_REGION", "") or environment.get("AWS_REGION", "")
    return ModelSettings(
        model=environment.get("MODEL_ID", "") or default_model(region),
        embedding_model=environment.get("EMBEDDING_MODEL_ID", ""),
        dimensions=int(environment.get("EMBEDDING_DIMENSIONS", "512")),
        max_output_tokens=int(environment.get("MODEL_MAX_OUTPUT_TOKENS", "4096")),
        guardrail=environment.get("GUARDRAIL_ID", ""),
        guardrail_version=environment.get("GUARDRAIL_VERSION", "") or "DRAFT",
        timeout_seconds=float(environment.get("MODEL_TIMEOUT_SECONDS", "60")),
        region=environment.get("BEDROCK_REGION", ""),
        allowed=frozenset(filter(None, map(str.strip, environment.get("ALLOWED_MODELS", "").split(",")))),
        provider=ModelProviderName(environment.get("STREAMBANK_MODEL", "") or ModelProviderName.BEDROCK),
        openai=_openai(environment),
    )


def _openai(environment: Mapping[str, str]) -> OpenAiSettings:
    base_url = _base_url("OPENAI_BASE_URL", environment)
    return OpenAiSettings(
        base_url=base_url,
        embedding_base_url=_base_url("OPENAI_EMBEDDING_BASE_URL", environment) or base_url,
        key=environment.get("OPENAI_API_KEY", "").strip(),
        key_parameter=environment.get("OPENAI_KEY_PARAMETER", ""),
    )


def _base_url(name: str, environment: Mapping[str, str]) -> str:
    """Return the URL in the variable *name*, or nothing; the error does not quote it, as it may have a password."""
    url = environment.get(name, "").strip().rstrip("/")
    parts = urlsplit(url)
    is_plain = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
    if url and (not is_plain or parts.query or parts.fragment):
        raise ValueError(f"{name} is not an http or https URL without user, password, query and fragment")
    return url


def _traces(environment: Mapping[str, str]) -> TraceSettings | None:
    """Return the collector that OpenTelemetry's own variables name, or None."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    base = environment.get("OTEL_EXPORTER_OTLP_ENDPOINT", "").strip()
    endpoint = environment.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "").strip() or (
        f"{base.rstrip('/')}/v1/traces" if base else ""
    )
    names = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")
    timeout = next(filter(None, map(environment.get, names)), "")
    return TraceSettings(endpoint, timeout) if endpoint else None


def _detector(text: str) -> str:
    return "" if text == NO_DETECTOR else text


def _limit(text: str) -> int | None:
    """Return a number of tokens; nothing, or a negative one, is no limit."""
    return int(text) if text and int(text) >= 0 else None


def _prices(text: str) -> dict[str, Price]:
    """Return the prices in "default=3/15,small-model=0.25/1.25": dollars per million tokens, input and output.

    The prices of reading and of writing a prompt cache may follow, as in "default=3/15/0.3/3.75".
    """
    prices = {}
    for entry in filter(None, map(str.strip, text.split(","))):
        name, _, amounts = entry.partition("=")
        try:
            prices[name.strip()] = Price(*map(float, amounts.split("/")))
        except (TypeError, ValueError):
            raise ValueError(f"MODEL_PRICES: {entry!r} is not like model=3/15 or model=3/15/0.3/3.75") from None
    return prices
