"""A request to the function `Api`: with its wiring, its bank, and its page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from streambank.api.request import Request
from streambank.errors import NotFound
from streambank.model.bank import Bank
from streambank.pipeline.events.ingest import IngestContext
from streambank.wire import paging
from streambank.wiring.api import ApiWiring
from streambank.wiring.stores import Stores


@dataclass(frozen=True, slots=True)
class ApiRequest(Request):
    """A request, and what its handler works with."""

    wiring: ApiWiring

    @property
    def stores(self) -> Stores:
        """Return the stores of the deployment."""
        return self.wiring.stores

    @property
    def context(self) -> IngestContext:
        """Return what an ingest works with."""
        return self.wiring.ingest

    def bank(self) -> Bank:
        """Return the bank of the path. Raises NotFound if there is none."""
        bank = self.stores.banks.get(self.path.bank)
        if bank is None:
            raise NotFound(f"there is no bank {self.path.bank!r}")
        return bank

    @property
    def page_size(self) -> int:
        """Return the size of the requested page. Raises InvalidArgument."""
        return paging.page_size(self.query.get("pageSize"))

    def page_position(self, listing: str, *shape: type) -> list[Any] | None:
        """Return where the previous page of *listing* ended: values of the types *shape*. Raises InvalidArgument."""
        return self.position(listing, self.query.get("pageToken"), *shape)

    def position(self, listing: str, token: str | None, *shape: type) -> list[Any] | None:
        """Return the position in a page token. Raises InvalidArgument if it belongs to another listing."""
        return paging.position(listing, token, shape, secret=self.wiring.page_secret)

    def next_page_token(self, listing: str, position: list[Any] | None) -> str | None:
        """Return the token of the page after *position*, or None after the last page."""
        return None if position is None else self.page_token(listing, position)

    def page_token(self, listing: str, position: list[Any]) -> str:
        """Return the token of the page after *position*."""
        return paging.token(listing, position, secret=self.wiring.page_secret)
