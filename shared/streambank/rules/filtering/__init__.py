"""Filters and orders in requests: AIP-160 filters, filter groups over metadata, AIP-132 orders."""

from streambank.rules.filtering.conditions import Kind
from streambank.rules.filtering.filter import Filter, parse
from streambank.rules.filtering.groups import Groups
from streambank.rules.filtering.order import Order, parse_order

__all__ = ["Filter", "Groups", "Kind", "Order", "parse", "parse_order"]
