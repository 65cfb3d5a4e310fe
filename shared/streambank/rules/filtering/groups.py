"""Filter groups over typed metadata: a memory matches if every filter of any group holds."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from streambank.model.metadata import MetadataValue
from streambank.rules.filtering import typed_comparison

MAX_GROUPS = 10
MAX_FILTERS = 10


class GroupOp(StrEnum):
    EQUAL = "EQUAL"
    GREATER_THAN = "GREATER_THAN"
    LESS_THAN = "LESS_THAN"


_COMPARE = {
    GroupOp.EQUAL: operator.eq,
    GroupOp.GREATER_THAN: operator.gt,
    GroupOp.LESS_THAN: operator.lt,
}
# How proto3 JSON may write an enum that is not set.
_UNSET = ("", "OPERATOR_UNSPECIFIED")


@dataclass(frozen=True, slots=True)
class KeyFilter:
    """One comparison; an absent key passes only if the comparison is negated."""

    key: str
    value: MetadataValue
    op: GroupOp = GroupOp.EQUAL
    negate: bool = False

    def matches(self, metadata: Mapping[str, object]) -> bool:
        """Tell whether *metadata* passes."""
        return typed_comparison.holds(_COMPARE[self.op], metadata.get(self.key), self.value) != self.negate


@dataclass(frozen=True, slots=True)
class Groups:
    """Filters in groups: all filters of any one group must pass. Without groups everything passes."""

    groups: tuple[tuple[KeyFilter, ...], ...] = ()

    @property
    def is_blank(self) -> bool:
        """Tell whether there are no groups, so that everything matches."""
        return not self.groups

    def matches(self, metadata: Mapping[str, object]) -> bool:
        """Tell whether *metadata* passes."""
        return self.is_blank or any(all(one.matches(metadata) for one in group) for group in self.groups)
