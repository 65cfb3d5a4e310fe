"""Request bodies that the tests of the wire start from."""

import json
from datetime import timedelta

import pytest

from streambank.errors import InvalidArgument
from streambank.wire.ingest import ingest_call

MINUTE = timedelta(minutes=1)


def event(text="hello", **more):
    return {"content": {"role": "user", "parts": [{"text": text}]}, **more}


def body(*events, rule=None, **more):
    """Return a request in camelCase; *rule* stands for the trigger's generationRule."""
    found = {"scope": {"user_id": "123"}, **more}
    if events:
        found["directContentsSource"] = {"events": list(events)}
    if rule is not None:
        found["generationTriggerConfig"] = {"generationRule": rule}
    return found


def read(document, *, key=None, bank="default"):
    """Return the call that *document* makes, after a round trip through JSON."""
    return ingest_call(json.loads(json.dumps(document)), bank=bank, idempotency_key=key)


def refusal(document, **more):
    """Return the field that *document* is refused for, and the refusal's text."""
    with pytest.raises(InvalidArgument) as refused:
        read(document, **more)
    return refused.value.field, refused.value.problem


def refused_field(document, **more):
    return refusal(document, **more)[0]
