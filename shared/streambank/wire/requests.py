"""Bodies of every route but ingest, whose function must start without pydantic."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from streambank.errors import InvalidArgument
from streambank.wire import reader

MAX_NAME_BYTES = 1_024
MAX_QUERY_BYTES = 8_192


def _in_bytes(value: str) -> str:
    if len(value.encode(errors="surrogatepass")) > MAX_NAME_BYTES:
        raise ValueError(f"must have at most {MAX_NAME_BYTES} bytes of UTF-8")
    return value


def _whole(value: Any) -> Any:
    """Return what proto3 JSON writes as a string or with a zero fraction as the whole number that it is."""
    number = reader.whole(value)
    return value if number is None else number


Name = Annotated[str, AfterValidator(_in_bytes)]
Seconds = Annotated[str, Field(pattern=r"^[0-9]{1,12}(\.[0-9]{1,9})?s$")]
Whole = Annotated[int, BeforeValidator(_whole)]
ScopeKeys = list[str]


class WireModel(BaseModel):
    """An object in either spelling; what is unknown is refused."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, frozen=True
    )

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, value: Any) -> Any:
        return {key: item for key, item in value.items() if item is not None} if isinstance(value, dict) else value


class OneOf(WireModel):
    """An object of which exactly one field is given."""

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError("must have exactly one of " + ", ".join(type(self).model_fields))
        return self


class Exclusive(WireModel):
    """An object in which the fields of *exclusive* never stand together."""

    exclusive: ClassVar[tuple[str, ...]]

    @model_validator(mode="after")
    def _not_together(self) -> Self:
        if self.model_fields_set.issuperset(self.exclusive):
            raise ValueError("may have one of " + ", ".join(self.exclusive) + ", not both")
        return self


M = TypeVar("M", bound=WireModel)


def parsed(kind: type[M], body: Any) -> M:
    """Return *body* as a message of *kind*. Raises InvalidArgument naming the first field that breaks a rule."""
    try:
        return kind.model_validate(body, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        problem = "unknown field" if first["type"] == "extra_forbidden" else first["msg"].removeprefix("Value error, ")
        raise InvalidArgument(".".join(str(part) for part in first["loc"]), problem) from error


# ---- retrieve


class SimilaritySearchParams(WireModel):
    search_query: Annotated[str, Field(max_length=MAX_QUERY_BYTES)]
    top_k: Annotated[Whole, Field(ge=0)] = 0
    include_events: bool = False
    include_pending: bool = False


class SimpleRetrievalParams(WireModel):
    page_size: Annotated[Whole, Field(ge=0)] = 0
    page_token: str = ""


class RetrieveProfilesRequest(WireModel):
    scope: Any = None


class RetrieveRequest(WireModel):
    scope: Any = None
    filter: Annotated[str, Field(max_length=4_096)] | None = None
    filter_groups: Any = None
    memory_types: Any = None
    similarity_search_params: SimilaritySearchParams | None = None
    simple_retrieval_params: SimpleRetrievalParams | None = None


# ---- banks


class GenerationRule(WireModel):
    event_count: Whole | None = None
    idle_duration: str | None = None
    fixed_interval: str | None = None
    overlap_event_count: Whole | None = None


class GenerationTriggerConfig(WireModel):
    generation_rule: GenerationRule | None = None


class GenerationConfig(WireModel):
    model: Name | None = None
    generation_trigger_config: GenerationTriggerConfig | None = None
    daily_token_budget: Annotated[int, Field(ge=0, le=1_000_000_000), BeforeValidator(_whole)] | None = None


class SimilaritySearchConfig(WireModel):
    embedding_model: Name | None = None


class GranularTtlConfig(WireModel):
    create_ttl: Seconds | None = None
    generate_created_ttl: Seconds | None = None
    generate_updated_ttl: Seconds | None = None


class TtlConfig(Exclusive):
    exclusive = ("default_ttl", "granular_ttl_config")

    default_ttl: Seconds | None = None
    granular_ttl_config: GranularTtlConfig | None = None
    memory_revision_default_ttl: Seconds | None = None


class ManagedMemoryTopic(WireModel):
    managed_topic_enum: Literal[
        "USER_PERSONAL_INFO", "USER_PREFERENCES", "KEY_CONVERSATION_DETAILS", "EXPLICIT_INSTRUCTIONS"
    ]


class CustomMemoryTopic(WireModel):
    label: Name
    description: Name


class MemoryTopic(OneOf):
    managed_memory_topic: ManagedMemoryTopic | None = None
    custom_memory_topic: CustomMemoryTopic | None = None


class ExampleContent(WireModel):
    role: Name | None = None
    parts: list[dict[str, Any]] = []


class ExampleEvent(WireModel):
    content: ExampleContent


class ConversationSource(WireModel):
    events: list[ExampleEvent]


class MemoryTopicId(OneOf):
    managed_memory_topic: Name | None = None
    custom_memory_topic_label: Name | None = None


class ExampleMemory(WireModel):
    fact: Annotated[str, Field(max_length=8_192)]
    topics: list[MemoryTopicId] | None = None


class GenerateMemoriesExample(WireModel):
    conversation_source: ConversationSource
    generated_memories: list[ExampleMemory] = []


class ConsolidationConfig(WireModel):
    revisions_per_candidate_count: Annotated[Whole, Field(ge=0, le=100)] | None = None


class CustomizationConfig(WireModel):
    scope_keys: ScopeKeys | None = None
    memory_topics: list[MemoryTopic] | None = None
    generate_memories_examples: list[GenerateMemoriesExample] | None = None
    enable_third_person_memories: bool | None = None
    consolidation_config: ConsolidationConfig | None = None
    disable_natural_language_memories: bool | None = None


class SchemaConfig(Exclusive):
    exclusive = ("memory_schema", "json_schema")

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,62}$")]
    memory_type: Literal["STRUCTURED_PROFILE", "MEMORY_TYPE_UNSPECIFIED"] | None = None
    memory_schema: Annotated[dict[str, Any] | None, Field(alias="schema")] = None
    json_schema: Any = None


class StructuredMemoryConfig(WireModel):
    scope_keys: ScopeKeys | None = None
    schema_configs: list[SchemaConfig] = []


class MemoryBankConfig(WireModel):
    generation_config: GenerationConfig | None = None
    similarity_search_config: SimilaritySearchConfig | None = None
    ttl_config: TtlConfig | None = None
    disable_memory_revisions: bool | None = None
    customization_configs: list[CustomizationConfig] | None = None
    structured_memory_configs: list[StructuredMemoryConfig] | None = None


class ContextSpec(WireModel):
    memory_bank_config: MemoryBankConfig | None = None


class BankRequest(WireModel):
    """Create and update; an update with an empty config changes nothing of it, as the SDK always sends one."""

    name: Name | None = None
    display_name: Name | None = None
    description: Name | None = None
    context_spec: ContextSpec | None = None

    def document(self) -> dict[str, Any] | None:
        """Return the configuration in camelCase, or None where none was given."""
        config = self.context_spec.memory_bank_config if self.context_spec else None
        return config.model_dump(mode="json", by_alias=True, exclude_none=True) or None if config else None


class DeleteBankRequest(WireModel):
    force: bool = False
