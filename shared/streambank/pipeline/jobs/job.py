"""The form of all jobs: one is started once, and runs work on it until it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from streambank.errors import Conflict, Unavailable
from streambank.model.job import Job
from streambank.retry import RetryPolicy

J = TypeVar("J", bound=Job)
J_co = TypeVar("J_co", bound=Job, covariant=True)
Step = Callable[[], None]


@dataclass(frozen=True, slots=True)
class JobContext:
    """What every job needs; a run stops between two steps when *has_time* returns False."""

    retry_policy: RetryPolicy
    clock: Callable[[], datetime]
    has_time: Callable[[], bool]


class Run(Protocol[J_co]):
    """One run of a job."""

    def steps(self) -> Iterator[Step]:
        """Yield the steps that are left, each after the one before it was taken."""

    def pause(self) -> J_co:
        """Record the progress of a run that has no more time, and return the job."""

    def finish(self) -> J_co:
        """End the job and return it."""


def begin(enter: Callable[[], J], name: str, *, context: JobContext) -> J:
    """Return the job that *enter* starts, or the one that is under way; *name* is what messages call it.

    Raises:
        Unavailable: others write the same items at every try.
    """
    for _ in context.retry_policy.attempts():
        try:
            return enter()
        except Conflict:
            continue
    raise Unavailable(f"the {name} cannot be started, because others write at the same time; try again")


def check_request(job: Job, request: object, name: str) -> None:
    """Raise Unavailable if *job* was under way already, and was started with another request."""
    if job.request != request:
        raise Unavailable(f"another {name} is under way; try again")


def proceed(run: Run[J], *, context: JobContext) -> J:
    """Take steps until the job is done or the time is over, and return the job.

    At least one step is taken: however often a job is interrupted, it comes to its end.
    """
    for number, step in enumerate(run.steps()):
        if number and not context.has_time():
            return run.pause()
        step()
    return run.finish()
