"""The environment, read once, at the edge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from streambank.model.usage import Price


class AuthMode(StrEnum):
    """How callers are told apart; `open` takes everybody for an admin, and no template offers it."""

    KEYS = "keys"
    JWT = "jwt"
    IAM = "iam"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a deployment is told by its template."""

    table: str
    model: str
    retention: timedelta
    dedup_horizon: timedelta
    state_machine_arn: str = ""
    export_bucket: str = ""
    auth_mode: AuthMode = AuthMode.KEYS
    daily_tokens: int | None = None
    call_tokens: int = 24_000
    model_timeout_seconds: float = 60.0
    prices: Mapping[str, Price] = field(default_factory=dict)

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Settings:
        """Return the settings in *environment*. Raises KeyError if one that has no default is missing."""
        return cls(
            table=environment["TABLE_NAME"],
            model=environment.get("STREAMBANK_MODEL", "bedrock"),
            retention=timedelta(days=int(environment.get("EVENT_RETENTION_DAYS", "90"))),
            dedup_horizon=timedelta(days=int(environment.get("DEDUP_HORIZON_DAYS", "90"))),
            state_machine_arn=environment.get("STATE_MACHINE_ARN", ""),
            export_bucket=environment.get("EXPORT_BUCKET", ""),
            auth_mode=AuthMode(environment.get("AUTH_MODE", AuthMode.KEYS)),
            daily_tokens=_limit(environment.get("DAILY_TOKEN_BUDGET", "")),
            call_tokens=int(environment.get("CALL_TOKEN_BUDGET", "24000")),
            model_timeout_seconds=float(environment.get("MODEL_TIMEOUT_SECONDS", "60")),
            prices=_prices(environment.get("MODEL_PRICES", "")),
        )


def _limit(text: str) -> int | None:
    """Return a number of tokens; nothing, or a negative one, is no limit."""
    return int(text) if text and int(text) >= 0 else None


def _prices(text: str) -> dict[str, Price]:
    """Return what models cost: "default=3/15,small-model=0.25/1.25", dollars per million tokens in and out."""
    prices = {}
    for entry in filter(None, map(str.strip, text.split(","))):
        name, _, both = entry.partition("=")
        paid, _, got = both.partition("/")
        try:
            prices[name.strip()] = Price(float(paid), float(got))
        except ValueError:
            raise ValueError(f"MODEL_PRICES: {entry!r} is not like model=3/15") from None
    return prices
