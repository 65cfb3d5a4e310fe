import pytest

from streambank.errors import InvalidArgument
from streambank.wire.bank import BankRequest, DeleteBankRequest
from streambank.wire.bank_config import ManagedMemoryTopic, SchemaConfig, TtlConfig
from streambank.wire.memory_requests import RetrieveRequest

SCOPE = {"scope": {"a": "b"}}
RULE = {"event_count": 10, "idleDuration": "300s"}
CONFIG = {
    "generationConfig": {"model": "m", "generation_trigger_config": {"generation_rule": RULE}},
    "similaritySearchConfig": {"embedding_model": "e"},
    "ttlConfig": {"defaultTtl": "60s", "memory_revision_default_ttl": "3600s"},
    "disable_memory_revisions": False,
    "customizationConfigs": [
        {
            "scope_keys": ["user_id"],
            "memory_topics": [
                {"managed_memory_topic": {"managed_topic_enum": "USER_PREFERENCES"}},
                {"custom_memory_topic": {"label": "jargon", "description": "words of ours"}},
            ],
            "generate_memories_examples": [
                {
                    "conversation_source": {
                        "events": [{"content": {"role": "user", "parts": [{"inline_data": {"a_b": 1}}]}}]
                    },
                    "generated_memories": [{"fact": "f", "topics": [{"custom_memory_topic_label": "jargon"}]}],
                }
            ],
            "enable_third_person_memories": True,
            "consolidation_config": {"revisions_per_candidate_count": 1},
        }
    ],
    "structuredMemoryConfigs": [
        {
            "schema_configs": [
                {
                    "id": "a-1",
                    "memory_type": "STRUCTURED_PROFILE",
                    "schema": {"type": "OBJECT", "properties": {"first_name": {"type": "STRING"}}},
                }
            ]
        }
    ],
}


def refused_field(kind, body):
    with pytest.raises(InvalidArgument) as error:
        kind.parse(body)
    return error.value.field


def test_a_configuration_is_stored_in_camel_case():
    """Whatever mixture of spellings is sent, the document is camelCase; maps and parts keep their keys."""
    document = BankRequest.parse({"context_spec": {"memory_bank_config": CONFIG}}).document()
    assert document["generationConfig"] == {
        "model": "m",
        "generationTriggerConfig": {"generationRule": {"eventCount": 10, "idleDuration": "300s"}},
    }
    assert document["ttlConfig"] == {"defaultTtl": "60s", "memoryRevisionDefaultTtl": "3600s"}
    assert document["disableMemoryRevisions"] is False
    [custom] = document["customizationConfigs"]
    assert custom["scopeKeys"] == ["user_id"]
    assert custom["memoryTopics"][0] == {"managedMemoryTopic": {"managedTopicEnum": "USER_PREFERENCES"}}
    [example] = custom["generateMemoriesExamples"]
    assert example["conversationSource"]["events"][0]["content"]["parts"] == [{"inline_data": {"a_b": 1}}]
    [schema] = document["structuredMemoryConfigs"][0]["schemaConfigs"]
    assert schema == {
        "id": "a-1",
        "memoryType": "STRUCTURED_PROFILE",
        "schema": {"type": "OBJECT", "properties": {"first_name": {"type": "STRING"}}},
    }


def test_a_stored_document_can_be_sent_back():
    """What a bank shows of its configuration is what an update takes."""
    document = BankRequest.parse({"contextSpec": {"memoryBankConfig": CONFIG}}).document()
    assert BankRequest.parse({"contextSpec": {"memoryBankConfig": document}}).document() == document


@pytest.mark.parametrize(
    "body", [{}, {"contextSpec": {}}, {"context_spec": {"memory_bank_config": {}}}, {"contextSpec": None}]
)
def test_an_empty_configuration_says_nothing(body):
    """Google's SDK always sends one with an update: it must not erase what is stored."""
    assert BankRequest.parse(body).document() is None


@pytest.mark.parametrize("name", ["displayName", "display_name"])
def test_both_spellings_are_one_field(name):
    """A field is found in either spelling."""
    assert BankRequest.parse({name: "d"}).display_name == "d"


def test_a_field_in_two_spellings_is_refused():
    """Nobody can say which of the two was meant."""
    assert refused_field(BankRequest, {"displayName": "a", "display_name": "b"}) == "display_name"


@pytest.mark.parametrize(
    ("kind", "body", "field"),
    [
        (BankRequest, {"my_field": 1}, "my_field"),
        (
            BankRequest,
            {"context_spec": {"memory_bank_config": {"my_field": 1}}},
            "context_spec.memory_bank_config.my_field",
        ),
        (
            BankRequest,
            {"contextSpec": {"memoryBankConfig": {"customizationConfigs": [{}, {"myField": 1}]}}},
            "contextSpec.memoryBankConfig.customizationConfigs[1].myField",
        ),
        (RetrieveRequest, {**SCOPE, "topK": 3}, "topK"),
        (
            RetrieveRequest,
            {**SCOPE, "similarity_search_params": {"search_query": "x", "myField": 1}},
            "similarity_search_params.myField",
        ),
        (DeleteBankRequest, {"forced": True}, "forced"),
    ],
)
def test_unknown_fields_are_named_as_the_caller_spelled_them(kind, body, field):
    """What nobody knows is refused by its path in the caller's own spelling."""
    with pytest.raises(InvalidArgument) as error:
        kind.parse(body)
    assert (error.value.field, error.value.problem.split(";")[0]) == (field, "unknown field")


@pytest.mark.parametrize(
    ("kind", "body", "field"),
    [
        (BankRequest, {"displayName": 1}, "displayName"),
        (BankRequest, {"display_name": "x" * 1_025}, "display_name"),
        (BankRequest, {"description": "x" * 1_025}, "description"),
        (RetrieveRequest, {**SCOPE, "similaritySearchParams": {}}, "similaritySearchParams.searchQuery"),
        (
            RetrieveRequest,
            {**SCOPE, "similaritySearchParams": {"searchQuery": "x", "topK": -1}},
            "similaritySearchParams.topK",
        ),
        (
            RetrieveRequest,
            {**SCOPE, "similaritySearchParams": {"searchQuery": "x", "topK": True}},
            "similaritySearchParams.topK",
        ),
        (
            RetrieveRequest,
            {**SCOPE, "similaritySearchParams": {"searchQuery": "x" * 8_193}},
            "similaritySearchParams.searchQuery",
        ),
        (
            RetrieveRequest,
            {**SCOPE, "simpleRetrievalParams": {"pageSize": -1}},
            "simpleRetrievalParams.pageSize",
        ),
        (DeleteBankRequest, {"force": "true"}, "force"),
        (TtlConfig, {"defaultTtl": "60"}, "defaultTtl"),
        (TtlConfig, {"defaultTtl": 60}, "defaultTtl"),
        (TtlConfig, {"defaultTtl": "-1s"}, "defaultTtl"),
        (TtlConfig, {"defaultTtl": "1s\n"}, "defaultTtl"),
        (ManagedMemoryTopic, {"managedTopicEnum": "HOBBIES"}, "managedTopicEnum"),
        (SchemaConfig, {"id": "1a"}, "id"),
        (SchemaConfig, {"id": "a" * 64}, "id"),
    ],
)
def test_what_breaks_a_rule_is_named(kind, body, field):
    """Wrong types, signs, lengths and spellings are refused by name; nothing is turned into what it is not."""
    assert refused_field(kind, body) == field


@pytest.mark.parametrize("body", [[], "x", 1, None])
def test_a_request_is_an_object(body):
    """A body of another kind is refused and has no field to name."""
    assert refused_field(BankRequest, body) == ""


def test_limits_are_inside():
    """A name of 1 KB and a query of 8 KB are taken, and zero asks for the default."""
    assert BankRequest.parse({"displayName": "x" * 1_024}).display_name
    asked = RetrieveRequest.parse({**SCOPE, "similaritySearchParams": {"searchQuery": "x" * 8_192, "topK": 0}})
    assert asked.similarity_search_params.top_k == 0
    assert RetrieveRequest.parse({**SCOPE, "simpleRetrievalParams": {}}).simple_retrieval_params.page_token == ""


def test_a_scope_keeps_its_keys():
    """The keys of a scope are the caller's own; its limits are those of every scope."""
    scope = {"user_id": "1", "userId": "2"}
    assert RetrieveRequest.parse({"scope": scope}).scope == scope
    assert refused_field(RetrieveRequest, {"scope": {"user_id": "*"}}) == "scope.user_id"
    assert refused_field(RetrieveRequest, {}) == "scope"


TOPIC = {"managed_topic_enum": "USER_PREFERENCES"}
LABEL = {"label": "jargon", "description": "words of ours"}
OBJECT = {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}
JSON_OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}}


def _topic(**topic):
    return {"customizationConfigs": [{"memoryTopics": [topic]}]}


def _schema(**more):
    return {"structuredMemoryConfigs": [{"schemaConfigs": [{"id": "a", "schema": OBJECT, **more}]}]}


@pytest.mark.parametrize(
    ("name", "config", "problem"),
    [
        ("both kinds", _topic(managedMemoryTopic=TOPIC, customMemoryTopic=LABEL), "exactly one of"),
        ("neither kind", _topic(), "exactly one of"),
        ("null is absent", _topic(managedMemoryTopic=None), "exactly one of"),
        ("both ttls", {"ttlConfig": {"defaultTtl": "60s", "granular_ttl_config": {"create_ttl": "60s"}}}, "excludes"),
        ("both schemas", _schema(jsonSchema={}), "excludes"),
        ("another type", _schema(memoryType="NATURAL_LANGUAGE_COLLECTION"), "STRUCTURED_PROFILE"),
    ],
)
def test_alternatives_exclude_each_other(name, config, problem):
    """What the contract gives as alternatives is never taken together, nor left out where one is needed."""
    with pytest.raises(InvalidArgument) as error:
        BankRequest.parse({"contextSpec": {"memoryBankConfig": config}})
    assert problem in error.value.problem, name
    assert error.value.field.startswith("contextSpec.memoryBankConfig.")


@pytest.mark.parametrize(("key", "schema"), [("schema", OBJECT), ("jsonSchema", JSON_OBJECT)])
def test_each_alternative_alone_is_taken(key, schema):
    """One schema, one TTL and one kind of topic are what a configuration may have."""
    config = {
        "ttlConfig": {"granularTtlConfig": {"createTtl": "60s"}},
        "customizationConfigs": [{"memoryTopics": [{"customMemoryTopic": LABEL}]}],
        "structuredMemoryConfigs": [{"schemaConfigs": [{"id": "a", key: schema, "memoryType": "STRUCTURED_PROFILE"}]}],
    }
    assert BankRequest.parse({"contextSpec": {"memoryBankConfig": config}}).document() == config
