"""The jobs that work on a whole bank: what each is, how far it has come, and why it failed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from streambank_client.types.operations import OperationMetadata
from streambank_console import paths
from streambank_console.views import text
from streambank_console.views.labels import Badge

_TITLES = {
    "erase": "Erasure",
    "export": "Export",
    "import": "Import",
    "policy": "Content policy applied",
    "reindex": "Reindex",
    "replay": "Replay",
}


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job."""

    id: str
    title: str
    state: Badge
    started: datetime | None
    progress: str
    failure: str


def job_row(name: str, metadata: OperationMetadata, failure: str) -> JobRow:
    """Return the row of a job; *failure* is the message of its error, or empty."""
    job_id = paths.last_part(name)
    kind = job_id.partition("-")[0]
    return JobRow(
        id=job_id,
        title=_TITLES.get(kind, text.words_of(kind)),
        state=_state(metadata.state or "", failure),
        started=metadata.start_time,
        progress=", ".join(_counts(metadata)),
        failure=failure,
    )


def _state(state: str, failure: str) -> Badge:
    if failure:
        return Badge("failed", "bad", "It ended with an error. The same call begins it again.")
    if state == "DONE":
        return Badge("done", "good", "It came to its end.")
    return Badge(text.words_of(state or "under way"), "busy", "It is under way, and goes on by itself.")


def _counts(metadata: OperationMetadata) -> list[str]:
    things = metadata.erased or metadata.exported or metadata.imported
    counts = {text.words_of(name): number for name, number in things.items()}
    plain = {"changed": metadata.changed, "reindexed": metadata.reindexed, "kept": metadata.kept}
    counts |= {name: number for name, number in plain.items() if number is not None}
    return [f"{number:,} {name}" for name, number in counts.items()]
