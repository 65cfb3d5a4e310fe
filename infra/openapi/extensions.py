"""Routes that Memory Bank does not have."""

from infra.openapi import books, erasures, parameters, streams, transfers
from infra.openapi.route import BANK, OPERATIONS, Route
from streambank.wire.erasure import EraseRequest

_BOOKS = (
    Route(
        "getUsage",
        "get",
        f"{BANK}/usage",
        "Shows what models cost the bank, day by day.",
        books.Books,
        parameters=(parameters.START_DATE, parameters.END_DATE),
    ),
)

_ERASURES = (
    Route(
        "eraseScope",
        "post",
        f"{BANK}:eraseScope",
        "Erases what was said and remembered in a scope, for good.",
        erasures.ErasureOperation,
        erasures.EraseScopeRequest,
    ),
    Route(
        "eraseBank",
        "post",
        f"{BANK}:erase",
        "Erases all that a bank holds but its configuration.",
        erasures.ErasureOperation,
        EraseRequest,
    ),
)

_TRANSFERS = (
    Route(
        "exportBank",
        "post",
        f"{BANK}:export",
        "Writes a scope, or all that a bank holds, as lines of JSON to the deployment's bucket.",
        transfers.TransferOperation,
        transfers.ExportRequest,
    ),
    Route(
        "importBank",
        "post",
        f"{BANK}:import",
        "Takes in what a bank exported.",
        transfers.TransferOperation,
        transfers.ImportRequest,
    ),
)

_STREAMS = (
    Route(
        "listStreams",
        "get",
        f"{BANK}/streams",
        "Lists streams with what they wait for.",
        streams.Streams,
        parameters=parameters.PAGE,
    ),
    Route(
        "findEvents",
        "post",
        f"{BANK}/streams:findEvents",
        "Tells where events of a stream are.",
        streams.FoundEvents,
        streams.FindEventsRequest,
    ),
    Route(
        "redriveOperations",
        "post",
        f"{OPERATIONS}:redrive",
        "Tries parked windows again, a hundred at most.",
        streams.RedrivenOperations,
    ),
)

EXTENSIONS = (*_BOOKS, *_ERASURES, *_TRANSFERS, *_STREAMS)
