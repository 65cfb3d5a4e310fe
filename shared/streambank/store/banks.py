"""Banks, their configuration, and their deletion."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

from streambank.model.bank import Bank, BankStatus
from streambank.model.ids import DEFAULT_BANK
from streambank.store import bank_contents, codec, keys, policy_codec, text
from streambank.store.actions import Delete, Put, Update, absent, equals
from streambank.store.attributes import instant, milliseconds
from streambank.store.table import Table

# A call that read the bank before it was closed has ended by then: functions that write run for 15 s at most.
CASCADE_AFTER = timedelta(seconds=60)
# AWS Lambda ends every function after 15 minutes at most: what began before the bank's contents went has ended by then.
LAST_WALK_AFTER = timedelta(minutes=15)


def bank_of(bank_id: str, item: Mapping[str, Any] | None) -> Bank | None:
    """Return the bank that *item* stores, or None if it is being deleted; `default` exists without an item."""
    if item is None:
        return Bank(DEFAULT_BANK) if bank_id == DEFAULT_BANK else None
    bank = _bank(bank_id, item)
    return bank if bank.status is BankStatus.ACTIVE else None


def _bank(bank_id: str, item: Mapping[str, Any]) -> Bank:
    return Bank(
        id=bank_id,
        created=instant(item.get("at")),
        updated=instant(item.get("upd")),
        display_name=item.get("name"),
        description=item.get("desc"),
        status=BankStatus(item["st"]),
        default_rule=codec.rule_value(item.get("rule")),
        retention=_days(item.get("ret")),
        dedup_horizon=_days(item.get("dedup")),
        content_policy=policy_codec.policy_value(item.get("pol")),
        has_consent_settings="con" in item,
    )


def _document(item: Mapping[str, Any] | None) -> dict[str, Any]:
    return text.decompressed(item["doc"]) if item else {}


def _days(stored: int | None) -> timedelta | None:
    return None if stored is None else timedelta(days=stored)


def _values(bank: Bank, version: int) -> codec.Values:
    return {
        "ver": version,
        "at": milliseconds(bank.created),
        "upd": milliseconds(bank.updated),
        "name": bank.display_name,
        "desc": bank.description,
        "st": bank.status,
        "rule": codec.rule_text(bank.default_rule),
        "ret": bank.retention.days if bank.retention else None,
        "dedup": bank.dedup_horizon.days if bank.dedup_horizon else None,
        "pol": policy_codec.policy_text(bank.content_policy),
        "con": int(bank.has_consent_settings) or None,
    }


class Banks:
    """The access patterns of banks."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, bank_id: str) -> Bank | None:
        """Return an active bank, or None."""
        return bank_of(bank_id, self._table.get(keys.bank(bank_id)))

    def document(self, bank_id: str) -> dict[str, Any]:
        """Return the MemoryBankConfig that was stored for a bank, in camelCase; empty where there is none."""
        return _document(self._table.get(keys.bank_config(bank_id)))

    def active_document(self, bank_id: str) -> dict[str, Any] | None:
        """Return the document of an active bank, or None: nothing is generated for a bank that is being deleted.

        Cost: one round trip.
        """
        active = self.with_document(bank_id)
        return active[1] if active else None

    def with_document(self, bank_id: str) -> tuple[Bank, dict[str, Any]] | None:
        """Return an active bank with its document, or None: one round trip."""
        bank_key, config_key = keys.bank(bank_id), keys.bank_config(bank_id)
        items = self._table.read([bank_key, config_key])
        bank = bank_of(bank_id, items.get(bank_key))
        return (bank, _document(items.get(config_key))) if bank else None

    def list(self, after: str = "", *, page: int | None = None) -> Iterator[Bank]:
        """Yield the active banks behind the id *after*, in order of their ids, `default` among them.

        Cost: a round trip for each *page* that is taken.
        """
        items = self._table.query(keys.BANKS, between=(after, keys.LAST) if after else None, page=page)
        stored = ((item["SK"], bank_of(item["SK"], item)) for item in items)
        for bank_id, bank in heapq.merge(stored, [(DEFAULT_BANK, Bank(DEFAULT_BANK))], key=itemgetter(0)):
            if bank_id > after:
                after = bank_id
                if bank:
                    yield bank

    def named(self, bank_ids: Iterable[str]) -> Iterator[Bank]:
        """Yield those of the banks *bank_ids* that are active, in order. Cost: a round trip for each hundred."""
        by_id = {bank_id: keys.bank(bank_id) for bank_id in sorted(bank_ids)}
        items = self._table.read(by_id.values())
        banks = (bank_of(bank_id, items.get(key)) for bank_id, key in by_id.items())
        return (bank for bank in banks if bank)

    def create(self, bank: Bank, document: Mapping[str, Any]) -> None:
        """Store a new bank. Raises Conflict if the id is taken."""
        self._table.transact([Put(keys.bank(bank.id), _values(bank, 1), absent()), self._config_put(bank, document)])

    def update(self, bank_id: str, change: Callable[[Bank], Bank], document: Mapping[str, Any] | None) -> Bank | None:
        """Apply *change*, and *document* where given, and return the bank; None if it does not exist.

        Raises:
            Conflict: it was updated meanwhile.
        """
        item = self._table.get(keys.bank(bank_id))
        bank = bank_of(bank_id, item)
        if bank is None:
            return None
        changed = change(bank)
        version = item["ver"] if item else 0
        condition = equals(ver=version) if item else absent()
        put = Put(keys.bank(bank_id), _values(changed, version + 1), condition)
        self._table.transact([put] if document is None else [put, self._config_put(bank, document)])
        return changed

    def _config_put(self, bank: Bank, document: Mapping[str, Any]) -> Put:
        return Put(keys.bank_config(bank.id), {"doc": text.compressed(dict(document))})

    def is_empty(self, bank_id: str) -> bool:
        """Tell whether no scope and no stream was ever written in a bank."""
        entries = (self._table.query(keys.registry(bank_id, shard), page=1) for shard in range(keys.REGISTRY_SHARDS))
        return all(next(items, None) is None for items in entries)

    def close(self, bank_id: str, *, now: datetime) -> None:
        """Close a bank to all callers; its contents are deleted from a minute later on. Raises Conflict."""
        key = keys.bank(bank_id)
        values = {"st": BankStatus.DELETING, **codec.due_values(key, now + CASCADE_AFTER)}
        self._table.write(Update(key, values, equals(st=BankStatus.ACTIVE)))

    def is_closing(self, bank_id: str) -> bool:
        """Tell whether a bank is closed and its contents are being deleted."""
        item = self._table.get(keys.bank(bank_id))
        return item is not None and item["st"] == BankStatus.DELETING

    def delete_contents(self, bank_id: str) -> Iterator[int]:
        """Delete everything in a bank but its own item, step by step; yield how many items each step deleted."""
        return bank_contents.delete_contents(self._table, bank_id)

    def finish_walk(self, bank_id: str, *, is_empty: bool, now: datetime) -> None:
        """Delete the item of a closed bank if this was the last walk over its contents; else arrange for another.

        The last walk finds nothing, `LAST_WALK_AFTER` the walk before it. Raises Conflict if the bank has ended.
        """
        key, is_closing = keys.bank(bank_id), equals(st=BankStatus.DELETING)
        emptied = instant((self._table.get(key) or {}).get("emp")) if is_empty else None
        if emptied and now >= emptied + LAST_WALK_AFTER:
            self._table.write(Delete(key, is_closing))
            return
        emptied = emptied or now
        due = codec.due_values(key, emptied + LAST_WALK_AFTER)
        self._table.write(Update(key, {"emp": milliseconds(emptied), **due}, is_closing))
