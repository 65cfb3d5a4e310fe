"""Jobs in replies."""

from typing_extensions import TypedDict

from streambank.wire.erasure import ErasureOperation
from streambank.wire.move import MoveOperation
from streambank.wire.policy_job import PolicyOperation
from streambank.wire.reindex import ReindexOperation
from streambank.wire.replay import ReplayOperation
from streambank.wire.transfer import TransferOperation

JobOperation = (
    ErasureOperation | MoveOperation | TransferOperation | ReindexOperation | PolicyOperation | ReplayOperation
)


class Jobs(TypedDict):
    """The newest job of each kind that worked on the whole bank, whether it is done or under way."""

    operations: list[JobOperation]
