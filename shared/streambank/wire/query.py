"""The parameters of a query: each route takes its own, and no others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from streambank.errors import InvalidArgument
from streambank.wire import reader

# Google's clients send these to every method (cloud.google.com/apis/docs/system-parameters), and AWS's add X-Amz-
# parameters where they sign the query instead of the headers. Both are without effect here.
_WITHOUT_EFFECT = re.compile(r"\$?(?:alt|key|fields|prettyPrint|quotaUser)|\$\.xgafv|[Xx]-[Aa]mz-[A-Za-z0-9-]+")


def check(parameters: Mapping[str, str], allowed: Sequence[str]) -> None:
    """Raise InvalidArgument unless each of *parameters* is *allowed*, in either spelling, and is given once."""
    present: set[str] = set()
    for spelled in parameters:
        name = reader.camel(spelled)
        if _WITHOUT_EFFECT.fullmatch(name):
            continue
        if name not in allowed:
            # Only a refusal needs it: it would add to the cold start of the function `Ingest`.
            from streambank.wire import hints  # noqa: PLC0415

            raise InvalidArgument(spelled, hints.unknown_parameter(spelled, allowed))
        if name in present:
            raise InvalidArgument(spelled, "given twice, in two spellings")
        present.add(name)
