"""The configuration of a bank (`MemoryBankConfig`); it is stored and returned as it was sent, in camelCase."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from streambank.errors import InvalidArgument
from streambank.rules.schemas import check_schema
from streambank.wire.content_policy import ContentPolicy
from streambank.wire.fields import MAX_FACT_BYTES, Name, TtlText, whole_number
from streambank.wire.ingest_model import GenerationTriggerConfig
from streambank.wire.model import OneOfModel, RequestModel, rule
from streambank.wire.topics import MAX_TOPICS

MAX_EARLIER_REVISIONS = 100
MAX_DAILY_TOKENS = 1_000_000_000


class GenerationConfig(RequestModel):
    model: Name | None = None
    generation_trigger_config: GenerationTriggerConfig | None = None
    daily_token_budget: Annotated[int, whole_number(0, MAX_DAILY_TOKENS)] | None = None
    include_tool_traffic: bool | None = None


class SimilaritySearchConfig(RequestModel):
    embedding_model: Name | None = None


class GranularTtlConfig(RequestModel):
    create_ttl: TtlText | None = None
    generate_created_ttl: TtlText | None = None
    generate_updated_ttl: TtlText | None = None


class TtlConfig(RequestModel):
    exclusive = (("defaultTtl", "granularTtlConfig"),)

    default_ttl: TtlText | None = None
    granular_ttl_config: GranularTtlConfig | None = None
    memory_revision_default_ttl: TtlText | None = None


class ManagedMemoryTopic(RequestModel):
    managed_topic_enum: Literal[
        "USER_PERSONAL_INFO", "USER_PREFERENCES", "KEY_CONVERSATION_DETAILS", "EXPLICIT_INSTRUCTIONS"
    ]


class CustomMemoryTopic(RequestModel):
    label: Name
    description: Name


class MemoryTopic(OneOfModel):
    managed_memory_topic: ManagedMemoryTopic | None = None
    custom_memory_topic: CustomMemoryTopic | None = None


class ExampleContent(RequestModel):
    role: Name | None = None
    parts: list[dict[str, Any]] = []


class ExampleEvent(RequestModel):
    content: ExampleContent


class ConversationSource(RequestModel):
    events: list[ExampleEvent]


class MemoryTopicId(OneOfModel):
    managed_memory_topic: Name | None = None
    custom_memory_topic_label: Name | None = None


class ExampleMemory(RequestModel):
    fact: Annotated[str, Field(max_length=MAX_FACT_BYTES)]
    topics: list[MemoryTopicId] | None = None


class GenerateMemoriesExample(RequestModel):
    conversation_source: ConversationSource
    generated_memories: list[ExampleMemory] = []


class ConsolidationConfig(RequestModel):
    revisions_per_candidate_count: Annotated[int, whole_number(0, MAX_EARLIER_REVISIONS)] | None = None


class PromptCustomization(RequestModel):
    memory_topics: list[MemoryTopic] | None = None
    generate_memories_examples: list[GenerateMemoriesExample] | None = None
    enable_third_person_memories: bool | None = None
    consolidation_config: ConsolidationConfig | None = None
    disable_natural_language_memories: bool | None = None


class CustomizationConfig(PromptCustomization):
    scope_keys: list[str] | None = None


class SchemaConfig(RequestModel):
    exclusive = (("schema", "jsonSchema"),)

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,62}$")]
    memory_type: Literal["STRUCTURED_PROFILE", "MEMORY_TYPE_UNSPECIFIED"] | None = None
    memory_schema: Annotated[dict[str, Any] | None, Field(alias="schema")] = None
    json_schema: Any = None

    @model_validator(mode="after")
    def _check_schema(self) -> Self:
        try:
            check_schema(self.model_dump(by_alias=True, exclude_none=True), "")
        except InvalidArgument as error:
            raise rule(error.problem, error.field) from None
        return self


class StructuredMemoryConfig(RequestModel):
    scope_keys: list[str] | None = None
    schema_configs: list[SchemaConfig] = []


class ReviewPolicyConfig(RequestModel):
    """What generations would do with these verdicts waits for review; with topics, only where one of them is meant."""

    actions: Annotated[list[Literal["CREATED", "UPDATED", "DELETED"]], Field(max_length=3)] = []
    topics: Annotated[list[MemoryTopicId], Field(max_length=MAX_TOPICS)] = []


class MemoryBankConfig(RequestModel):
    generation_config: GenerationConfig | None = None
    similarity_search_config: SimilaritySearchConfig | None = None
    ttl_config: TtlConfig | None = None
    disable_memory_revisions: bool | None = None
    customization_configs: list[CustomizationConfig] | None = None
    structured_memory_configs: list[StructuredMemoryConfig] | None = None
    review_policy: ReviewPolicyConfig | None = None
    content_policy: ContentPolicy | None = None
