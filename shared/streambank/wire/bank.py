"""Banks in requests and replies."""

import json
from collections.abc import Mapping
from typing import Any, Literal, NotRequired, Self, cast

from typing_extensions import TypedDict

from streambank.errors import InvalidArgument
from streambank.model import bank as model
from streambank.wire import reader
from streambank.wire.bank_config import MemoryBankConfig
from streambank.wire.fields import Name
from streambank.wire.model import RequestModel
from streambank.wire.reply import JsonObject, Page, Time, optional_time, without_nulls

MAX_DOCUMENT_BYTES = 300_000
MAX_DEPTH = 64
# The path of a bank's configuration in a request.
CONFIG = "contextSpec.memoryBankConfig"


class ContextSpec(RequestModel):
    memory_bank_config: MemoryBankConfig | None = None


class BankRequest(RequestModel):
    """Create and update; an update with an empty config changes nothing of it, as the SDK always sends one."""

    name: Name | None = None
    display_name: Name | None = None
    description: Name | None = None
    context_spec: ContextSpec | None = None

    @classmethod
    def parse(cls, body: Any) -> Self:
        """Return *body* as a request. Raises InvalidArgument, also for what is nested too deeply to be kept."""
        if not reader.depth(body, MAX_DEPTH):
            raise InvalidArgument(CONFIG, f"is nested more than {MAX_DEPTH} levels deep")
        reader.byte_length(json.dumps(body, ensure_ascii=False), CONFIG)
        return super().parse(body)

    def document(self) -> JsonObject | None:
        """Return the configuration in camelCase, or None without one. Raises InvalidArgument if it is too large."""
        config = self.context_spec.memory_bank_config if self.context_spec else None
        document = config.model_dump(mode="json", by_alias=True, exclude_none=True) if config else None
        size = len(json.dumps(document, ensure_ascii=False).encode())
        if size > MAX_DOCUMENT_BYTES:
            raise InvalidArgument(CONFIG, f"has {size} bytes; the limit is {MAX_DOCUMENT_BYTES}")
        return document or None


class DeleteBankRequest(RequestModel):
    force: bool = False


class BankContext(TypedDict):
    """The configuration as it was sent, in camelCase."""

    memoryBankConfig: JsonObject


class Bank(TypedDict):
    """The default bank was never created, so it has no times until it is changed."""

    name: str
    displayName: NotRequired[str | None]
    description: NotRequired[str | None]
    createTime: NotRequired[Time | None]
    updateTime: NotRequired[Time | None]
    contextSpec: NotRequired[BankContext | None]


class Banks(Page):
    """The list's name is the collection's: memoryBanks where the path says so."""

    reasoningEngines: list[Bank]


class BankOperation(TypedDict):
    """An operation that is done in the reply that names it."""

    name: str
    done: Literal[True]
    response: Bank


def banks(page: list[Bank], parent: str, next_page_token: str | None) -> Banks:
    """Return a page of banks under the name of the collection that *parent* ends with."""
    reply = {parent.rsplit("/", 1)[-1]: page, "nextPageToken": next_page_token}
    return without_nulls(cast("Banks", reply))


def bank(one: model.Bank, parent: str, document: Mapping[str, Any]) -> Bank:
    """Return a bank; contextSpec is complete or absent, since an empty one crashes Google's SDK."""
    return without_nulls(
        Bank(
            name=f"{parent}/{one.id}",
            displayName=one.display_name,
            description=one.description,
            createTime=optional_time(one.created),
            updateTime=optional_time(one.updated),
            contextSpec=BankContext(memoryBankConfig=dict(document)) if document else None,
        )
    )
