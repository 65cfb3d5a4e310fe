"""The routes of IngestEvents, as the API function serves and the document describes them."""

from __future__ import annotations

from dataclasses import replace

from streambank.api import ingest
from streambank.wire import parameters
from streambank.wire.ingest_model import IngestEventsRequest

# API Gateway sends this one to the function `Ingest`.
_OF_MEMORIES = replace(ingest.ROUTE, parameters=(parameters.IDEMPOTENCY_KEY,), described_body=IngestEventsRequest)
# The spelling of Google's discovery document; Google's SDK uses the other one.
_OF_BANK = replace(
    _OF_MEMORIES, name="ingestEventsOfBank", path=":ingestEvents", summary="The same under its other name."
)
ROUTES = (_OF_MEMORIES, _OF_BANK)
