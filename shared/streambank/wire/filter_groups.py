"""Filter groups over typed metadata, as requests hold them."""

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from streambank.errors import InvalidArgument
from streambank.rules.filtering.groups import MAX_FILTERS, MAX_GROUPS, GroupOp, Groups, KeyFilter
from streambank.wire.fields import TypedValue
from streambank.wire.model import JsonSchema, Read, RequestModel, rule

# What proto3 JSON may send for an enum that nobody set.
_UNSET = ("", "OPERATOR_UNSPECIFIED")


def _op(value: Any, path: str) -> GroupOp:
    if value in _UNSET:
        return GroupOp.EQUAL
    if value not in list(GroupOp):
        raise InvalidArgument(path, "must be one of " + ", ".join(GroupOp))
    return GroupOp(value)


class MetadataFilter(RequestModel):
    """A comparison; true and false have no order."""

    key: Annotated[str, Field(min_length=1)]
    value: TypedValue
    op: Annotated[GroupOp, Read(_op, {"type": "string", "enum": [*GroupOp, *_UNSET]})] = GroupOp.EQUAL
    negate: bool = False

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if isinstance(self.value, bool) and self.op is not GroupOp.EQUAL:
            raise rule("must be EQUAL: true and false have no order", "op")
        return self

    def filter(self) -> KeyFilter:
        """Return the filter that this describes."""
        return KeyFilter(self.key, self.value, self.op, self.negate)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> JsonSchema:
        described: JsonSchema = super().__get_pydantic_json_schema__(schema, handler)
        handler.resolve_ref_schema(described)["anyOf"] = [
            {"properties": {"value": {"not": {"required": ["boolValue"]}}}},
            {"properties": {"op": {"enum": [GroupOp.EQUAL, *_UNSET]}}},
        ]
        return described


class FilterGroup(RequestModel):
    """Filters that must all hold."""

    filters: Annotated[list[MetadataFilter], Field(min_length=1, max_length=MAX_FILTERS)]


FilterGroups = Annotated[list[FilterGroup], Field(max_length=MAX_GROUPS, description="One group that holds is enough.")]


def filter_groups(groups: list[FilterGroup] | None) -> Groups:
    """Return the groups of a request; without any, everything passes."""
    return Groups(tuple(tuple(one.filter() for one in group.filters) for group in groups or ()))
