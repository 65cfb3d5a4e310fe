"""Banks and their configuration."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from streambank_client.http.encoding import JsonObject
from streambank_client.types.base import Instant, RequestShape, Shape, Span
from streambank_client.types.events import Event, GenerationRule
from streambank_client.types.memories import Topic
from streambank_client.types.policies import ContentPolicy


class GenerationTriggerConfig(RequestShape):
    generation_rule: GenerationRule | None = None


class GenerationConfig(RequestShape):
    """The model that makes memories, its trigger, and its tokens a day (0 to 1,000,000,000)."""

    model: str | None = None
    generation_trigger_config: GenerationTriggerConfig | None = None
    daily_token_budget: int | None = None
    include_tool_traffic: bool | None = None


class SimilaritySearchConfig(RequestShape):
    embedding_model: str | None = None


class GranularTtlConfig(RequestShape):
    """How long a memory is kept, by the call that created or updated it."""

    create_ttl: Span | None = None
    generate_created_ttl: Span | None = None
    generate_updated_ttl: Span | None = None


class TtlConfig(RequestShape):
    """How long memories and their revisions are kept: 1 s to 100 years."""

    default_ttl: Span | None = None
    granular_ttl_config: GranularTtlConfig | None = None
    memory_revision_default_ttl: Span | None = None


class ManagedMemoryTopic(RequestShape):
    managed_topic_enum: str


class CustomMemoryTopic(RequestShape):
    label: str
    description: str


class MemoryTopic(RequestShape):
    managed_memory_topic: ManagedMemoryTopic | None = None
    custom_memory_topic: CustomMemoryTopic | None = None


class ConversationSource(RequestShape):
    events: list[Event]


class ExampleMemory(RequestShape):
    fact: str
    topics: list[Topic] | None = None


class GenerateMemoriesExample(RequestShape):
    """A conversation, and the memories to make of a similar one."""

    conversation_source: ConversationSource
    generated_memories: list[ExampleMemory] = []


class ConsolidationConfig(RequestShape):
    revisions_per_candidate_count: int | None = None


class CustomizationConfig(RequestShape):
    """What to remember, for scopes with these keys."""

    scope_keys: list[str] | None = None
    memory_topics: list[MemoryTopic] | None = None
    generate_memories_examples: list[GenerateMemoriesExample] | None = None
    enable_third_person_memories: bool | None = None
    consolidation_config: ConsolidationConfig | None = None
    disable_natural_language_memories: bool | None = None


class SchemaConfig(RequestShape):
    id: str
    memory_type: str | None = None
    memory_schema: JsonObject | None = Field(default=None, alias="schema")
    json_schema: Any = None


class StructuredMemoryConfig(RequestShape):
    """Profiles, for scopes with these keys."""

    scope_keys: list[str] | None = None
    schema_configs: list[SchemaConfig] = []


class ReviewPolicyConfig(RequestShape):
    """What waits for review: generated changes with these verdicts, of these topics if there are any."""

    actions: list[str] = []
    topics: list[Topic] = []


class MemoryBankConfig(RequestShape):
    """The configuration of a bank; a field that is left out has the service's default."""

    generation_config: GenerationConfig | None = None
    similarity_search_config: SimilaritySearchConfig | None = None
    ttl_config: TtlConfig | None = None
    disable_memory_revisions: bool | None = None
    customization_configs: list[CustomizationConfig] | None = None
    structured_memory_configs: list[StructuredMemoryConfig] | None = None
    review_policy: ReviewPolicyConfig | None = None
    content_policy: ContentPolicy | None = None


class BankContext(Shape):
    memory_bank_config: MemoryBankConfig | None = None


class BankResource(Shape):
    """A bank; the default bank is never created, so it has no times until it is changed."""

    name: str
    create_time: Instant | None = None
    update_time: Instant | None = None
    display_name: str | None = None
    description: str | None = None
    context_spec: BankContext | None = None

    @property
    def id(self) -> str:
        """The last part of the name."""
        return self.name.rsplit("/", 1)[-1]
