"""The jobs that apply content policies."""

from __future__ import annotations

from streambank.model.policy_job import PolicyJob
from streambank.store.bank_walks import BankWalks
from streambank.store.keys import Kind
from streambank.store.table import Table


class PolicyJobs(BankWalks[PolicyJob]):
    """The access patterns of `POLICY`."""

    def __init__(self, table: Table) -> None:
        super().__init__(table, Kind.POLICY, PolicyJob)
