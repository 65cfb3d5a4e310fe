"""What exports and imports share: starting the job, and the claim that begins each of its runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from streambank.errors import InvalidArgument
from streambank.model.transfer import Direction, Transfer, TransferSpec
from streambank.pipeline.jobs import job
from streambank.pipeline.jobs.job import JobContext, Run
from streambank.store.banks import Banks
from streambank.store.objects import Objects
from streambank.store.transfers import Transfers


class BankErasedError(Exception):
    """The bank was erased since the import started, which brings nothing of it back."""

    def __init__(self) -> None:
        super().__init__("the bank was erased meanwhile")


@dataclass(frozen=True, slots=True)
class TransferContext(JobContext):
    """What exports and imports need."""

    transfers: Transfers
    objects: Objects
    banks: Banks


def begin(bank: str, direction: Direction, request: TransferSpec, *, context: TransferContext) -> Transfer:
    """Return the job that was started, or the same one that is under way.

    Raises:
        Unavailable: another one is under way or started at the same time, or the bank is being erased.
    """
    transfer = job.begin(
        lambda: context.transfers.begin(bank, direction, request, now=context.clock()), direction, context=context
    )
    job.check_request(transfer, request, direction)
    return transfer


def proceed(transfer: Transfer, run: Callable[[Transfer], Run[Transfer]], *, context: TransferContext) -> Transfer:
    """Claim a job and go on with it in the *run* that is made of it.

    A job fails if its bank is gone or was erased, or if what it reads is invalid.

    Raises:
        Conflict: another run of the job was started.
    """
    claimed = context.transfers.claim(transfer, now=context.clock())
    if context.banks.get(claimed.bank) is None:
        return context.transfers.finish(claimed, "the bank is gone", now=context.clock())
    try:
        return job.proceed(run(claimed), context=context)
    except (InvalidArgument, BankErasedError) as error:
        context.transfers.finish(claimed, str(error), now=context.clock())
    return context.transfers.find(claimed.bank, claimed.direction) or claimed


def under_way(bank: str, direction: Direction, *, context: TransferContext) -> Transfer | None:
    """Return the bank's newest job of a kind if it has not ended, or None."""
    transfer = context.transfers.find(bank, direction)
    return transfer if transfer and not transfer.ended else None
