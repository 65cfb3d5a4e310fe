"""The consent of scopes. It is in a scope's version item, which every generation reads, and which an erasure keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from streambank.model import ids
from streambank.model.consent import Consent
from streambank.store import codec, keys
from streambank.store.scope_versions import version_bump
from streambank.store.table import Table


class ScopeConsent(NamedTuple):
    """The consent of a scope at one *version* of the scope."""

    version: int
    consent: Consent


class Consents:
    """The access patterns of a scope's consent."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def find(self, bank: str, scope: Mapping[str, str]) -> ScopeConsent:
        """Return the consent of a scope; one that was never set is given."""
        item = self._table.get(keys.version(bank, ids.scope_id(scope)))
        return ScopeConsent(item["ver"] if item else 0, codec.consent_of(item))

    def write(self, bank: str, scope: Mapping[str, str], version: int, consent: Consent) -> None:
        """Set the consent of a scope: a plan that was made before is a conflict. Raises Conflict."""
        self._table.transact(version_bump(bank, scope, version, 1, {"lrn": codec.consent_text(consent)}))
