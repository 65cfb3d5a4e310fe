"""Requests and replies that the tests of the adapters share."""

from datetime import UTC, datetime

from streambank.llm.ports import (
    ConsolidationRequest,
    ExtractionRequest,
    FactChange,
    OfferedFact,
    OfferedMemory,
    Turn,
)
from streambank.rules.model_choice import ANY_MODEL
from streambank.settings import ModelSettings

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MODELS = ModelSettings(
    "amazon.nova-lite-v1:0", "amazon.titan-embed-text-v2:0", dimensions=64, allowed=frozenset({ANY_MODEL})
)
REQUEST = ExtractionRequest((Turn(1, "user", "I keep bees.", NOW), Turn(2, "model", "Nice!", NOW)))
GRAZ = OfferedMemory(1, "I live in Graz", NOW, ("I live in Wels",))
WITH_MEMORIES = ExtractionRequest(
    (Turn(1, "user", "I keep bees.", NOW, context=True), Turn(2, "user", "I moved to Linz on Monday.", NOW)),
    memories=(GRAZ, OfferedMemory(2, "I ski", NOW)),
    recorded=("I keep bees",),
)
GOOD = {"facts": [{"fact": "I keep bees", "events": [1], "topic": "USER_PERSONAL_INFO"}]}
FACTS = (
    OfferedFact(1, "I keep bees", None, NOW),
    OfferedFact(
        2, "I live in Linz", None, NOW, FactChange.CHANGES, (1,), "I live in Linz", ("I moved to Linz on Monday.",)
    ),
)
DOUBTFUL = ConsolidationRequest(FACTS, (GRAZ, OfferedMemory(2, "I ski", NOW)))
DECIDED = {
    "decisions": [
        {"fact": 1, "action": "CREATE", "text": "I keep bees"},
        {"reason": "moved", "fact": 2, "action": "UPDATE", "memories": [1], "text": "I live in Linz"},
    ]
}
