"""Requests that make, change, roll back, purge and retrieve memories."""

from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from streambank.errors import InvalidArgument
from streambank.model import ids
from streambank.model.rule import WindowSettings
from streambank.model.validity import Moment
from streambank.rules.edits import CHANGEABLE, Edit, parse_update_mask
from streambank.wire import reader, settings
from streambank.wire.fields import Count, Fact, FilterText, Instant, Labels, MetadataMap, Name, Scope, Topics, Ttl
from streambank.wire.filter_groups import FilterGroups
from streambank.wire.model import JsonSchema, Read, RequestModel, rule
from streambank.wire.validity import ValidityFields

MAX_QUERY_BYTES = 8_192
MAX_ORDER_BYTES = 256
MAX_SCOPES = 5
_REVISION_ID = {"type": "string", "pattern": r"^([^/]*/)*[0-9]{1,12}$", "examples": ["1"]}

# ---- changes


class _MemoryFields(ValidityFields):
    exclusive = (("ttl", "expireTime"), ("revisionTtl", "revisionExpireTime"))

    name: Any = None
    display_name: Name | None = None
    description: Name | None = None
    topics: Topics = ()
    metadata: MetadataMap = Field(default_factory=dict)
    ttl: Ttl | None = None
    expire_time: Instant | None = None
    pinned: bool = False
    revision_labels: Labels | None = None
    revision_ttl: Ttl | None = None
    revision_expire_time: Instant | None = None
    disable_memory_revisions: bool | None = None

    def _present(self) -> AbstractSet[str]:
        return {reader.camel(name) for name in self.model_fields_set} & CHANGEABLE

    def _edit(self, named: AbstractSet[str], fact: str, *, now: datetime) -> Edit:
        settings.check_maps(None, self.metadata)
        settings.check_maps(self.revision_labels, None)
        return Edit(
            fields=named,
            fact=fact,
            display_name=self.display_name,
            description=self.description,
            topics=self.topics,
            metadata=self.metadata,
            expires=_expires(self.ttl, self.expire_time, now=now),
            pinned=self.pinned,
            settings=WindowSettings(
                revision_labels=self.revision_labels,
                revision_expiry=settings.expiry(self.revision_ttl, self.revision_expire_time),
                disable_revisions=self.disable_memory_revisions,
            ),
            validity=self.validity,
        )


def _expires(ttl: timedelta | None, expire_time: datetime | None, *, now: datetime) -> datetime | None:
    if ttl is not None:
        return now + ttl
    if expire_time is not None and expire_time <= now:
        raise InvalidArgument("expireTime", "must be in the future")
    return expire_time


class CreateMemoryRequest(_MemoryFields):
    scope: Scope
    fact: Fact

    def edit(self, *, now: datetime) -> Edit:
        """Return the content of the new memory. Raises InvalidArgument."""
        return self._edit(self._present(), self.fact, now=now)


class UpdateMemoryRequest(_MemoryFields):
    """Changes what updateMask names, else the fields that it has; a scope may come along, and does not change."""

    scope: Scope | None = None
    fact: Fact | None = None

    def edit(self, mask: str | None, *, now: datetime) -> Edit:
        """Return the changes. A field that the mask names and the body lacks is cleared, except for the fact.

        Raises:
            InvalidArgument: the mask names what cannot change, or nothing changes.
        """
        named = _mask(mask) if mask else self._present()
        if not named:
            raise InvalidArgument("updateMask", "names nothing that can change")
        if "fact" in named and self.fact is None:
            raise InvalidArgument("fact", "is required: a memory must have a fact")
        return self._edit(named, self.fact or "" if "fact" in named else "", now=now)


def _mask(mask: str) -> AbstractSet[str]:
    return parse_update_mask({reader.camel(path.strip()) for path in mask.split(",") if path.strip()})


def _revision_id(value: Any, path: str) -> str:
    digits = str(value).rpartition("/")[2]
    if isinstance(value, bool) or not digits.isascii() or not digits.isdigit() or len(digits) > 12:
        raise InvalidArgument(path, "must be the id of a revision")
    return str(value)


class RollbackMemoryRequest(RequestModel):
    """The id of a revision, or its whole name."""

    target_revision_id: Annotated[str, Read(_revision_id, _REVISION_ID)]

    def number(self, bank: str, memory_id: str) -> int:
        """Return the number of the revision. Raises InvalidArgument if it is another memory's, or another bank's."""
        parent, _, digits = self.target_revision_id.rpartition("/")
        named = parent.split("/")
        if parent and (named[-3:] != ["memories", memory_id, "revisions"] or named[:-3][-1:] not in ([], [bank])):
            raise InvalidArgument("targetRevisionId", "must be a revision of this memory")
        return int(digits)


class PurgeMemoriesRequest(RequestModel):
    """Which memories are deleted; without force they are only counted."""

    filter: FilterText = ""
    filter_groups: FilterGroups = []
    force: bool = False

    def check_not_empty(self) -> None:
        """Raise InvalidArgument if the request selects nothing: a purge never means all memories."""
        if not self.filter.strip() and not self.filter_groups:
            raise InvalidArgument("filter", "filter or filterGroups is required")

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> JsonSchema:
        described: JsonSchema = super().__get_pydantic_json_schema__(schema, handler)
        target = handler.resolve_ref_schema(described)
        target["anyOf"] = [{"required": ["filter"]}, {"required": ["filterGroups"]}]
        target["properties"]["filter"] |= {"minLength": 1, "pattern": r"\S"}
        target["properties"]["filterGroups"] |= {"minItems": 1}
        return described


# ---- retrieval


class SimilaritySearchParams(RequestModel):
    """The last three are extensions: raw events, those that no memories were made of yet, and the parts of scores."""

    search_query: Annotated[str, Field(max_length=MAX_QUERY_BYTES)]
    top_k: Count = 0
    include_events: bool = False
    include_pending: bool = False
    explain: bool = False


class SimpleRetrievalParams(RequestModel):
    """The order is an extension: as that of a list of memories."""

    page_size: Count = 0
    page_token: str = ""
    order_by: Annotated[str, Field(max_length=MAX_ORDER_BYTES)] = ""


class MomentFields(RequestModel):
    """A time to look back to: what was true at *asOf*, by what was known at *knownAsOf*."""

    as_of: Instant | None = None
    known_as_of: Instant | None = None

    @property
    def moment(self) -> Moment | None:
        """Return the time to look back to, or None for now."""
        if self.as_of is None and self.known_as_of is None:
            return None
        return Moment(self.as_of, self.known_as_of)


class RetrieveRequest(MomentFields):
    """All memories of exactly this scope, or those nearest to a text, or a page of them; as of a time if wanted.

    In place of `scope`, `scopes` names up to five, which are one ranking (extension).
    """

    exclusive = (("simpleRetrievalParams", "similaritySearchParams"), ("scope", "scopes"))

    scope: Scope | None = None
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=MAX_SCOPES)] | None = None
    filter: FilterText = ""
    filter_groups: FilterGroups = []
    memory_types: list[Literal["NATURAL_LANGUAGE_COLLECTION", "STRUCTURED_PROFILE"]] = []
    similarity_search_params: SimilaritySearchParams | None = None
    simple_retrieval_params: SimpleRetrievalParams | None = None

    @model_validator(mode="after")
    def _check_scopes(self) -> Self:
        if self.scope is None and self.scopes is None:
            raise rule("is required", "scope")
        names = [ids.canonical(scope) for scope in self.scopes or ()]
        repeated = next((index for index, name in enumerate(names) if name in names[:index]), None)
        if repeated is not None:
            raise rule("is named twice", f"scopes[{repeated}]")
        return self

    @property
    def all_scopes(self) -> list[dict[str, str]]:
        """Return the scopes that are retrieved from, in their order."""
        return [self.scope] if self.scope is not None else list(self.scopes or ())

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> JsonSchema:
        described: JsonSchema = super().__get_pydantic_json_schema__(schema, handler)
        handler.resolve_ref_schema(described)["anyOf"] = [{"required": ["scope"]}, {"required": ["scopes"]}]
        handler.resolve_ref_schema(described)["properties"]["scopes"]["uniqueItems"] = True
        return described


class RetrieveProfilesRequest(MomentFields):
    scope: Scope
