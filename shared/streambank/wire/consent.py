"""Consent in requests and replies."""

import json
from collections.abc import Mapping
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from streambank.errors import InvalidArgument
from streambank.model import consent as model
from streambank.model.consent import Learning
from streambank.wire import ingest
from streambank.wire.fields import Scope
from streambank.wire.model import RequestModel
from streambank.wire.reply import Time, optional_time, without_nulls


class ConsentRequest(RequestModel):
    """Whether memories are made of what is said in a scope."""

    scope: Scope
    learning: Literal["ENABLED", "DISABLED"]


class Consent(TypedDict):
    """A scope that was never set learns, and has no time."""

    scope: dict[str, str]
    learning: Learning
    updateTime: NotRequired[Time | None]


def scope_of(text: str | None) -> dict[str, str]:
    """Return the scope in the query. Raises InvalidArgument."""
    try:
        value = json.loads(text or "null")
    except (ValueError, RecursionError):
        raise InvalidArgument("scope", 'must be JSON such as {"user_id": "123"}') from None
    return ingest.scope(value, "scope")


def consent(scope: Mapping[str, str], one: model.Consent) -> Consent:
    """Return the consent of a scope."""
    return without_nulls(Consent(scope=dict(scope), learning=one.learning, updateTime=optional_time(one.changed)))
