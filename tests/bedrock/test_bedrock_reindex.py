"""A bank changes its embedding model: its memories are ranked by words until a reindex gives them new vectors."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from streambank_client import Streambank
from streambank_local.service import LocalService
from tests.bedrock.thinking import bedrock_service
from tests.journeys.caller import Caller, said

TITAN, COHERE = "amazon.titan-embed-text-v2:0", "cohere.embed-v4:0"
PARAMETERS = {"AllowedModels": COHERE, "EmbeddingModelId": TITAN, "EmbeddingDimensions": "256"}


@pytest.fixture(scope="module")
def service() -> Iterator[LocalService]:
    with bedrock_service(**PARAMETERS) as service:
        yield service


@pytest.fixture
def caller(service: LocalService) -> Iterator[Caller]:
    with httpx.Client(base_url=service.base_url, headers={"authorization": "Bearer local"}, timeout=60) as client:
        caller = Caller(service, client)
        yield caller
        caller.leave()


def distances(caller: Caller, bank: str, scope: dict[str, str]) -> list[float]:
    """Return the distances of all memories from a query that shares no word with any of them."""
    query = {"search_query": "musical instruments", "topK": 10}
    return [row.get("distance", 0.0) for row in caller.retrieve(scope, bank, similaritySearchParams=query)]


def test_a_bank_with_another_embedding_model_is_reindexed(service: LocalService, caller: Caller) -> None:
    """Two embedders: after the change no meaning is compared; after the reindex it is, by vectors of the new model."""
    bank = caller.bank(similarity_search_config={"embedding_model": TITAN})
    stream = caller.stream(bank=bank)
    stream.flush(said("I play the piano"), said("I live in Graz"))
    before = distances(caller, bank, stream.scope)
    assert len(before) == 2
    assert max(before) < 2
    config = {"similarity_search_config": {"embedding_model": COHERE}}
    caller.call("PATCH", bank, {"context_spec": {"memory_bank_config": config}})
    assert distances(caller, bank, stream.scope) == [2.0, 2.0]
    with Streambank(service.base_url, token="local") as client:
        operation = client.bank(bank).reindex().wait()
        assert (operation.metadata.state, operation.metadata.reindexed) == ("DONE", 2)
        done = operation.result()
        assert (done.reindexed, done.kept, done.failed) == (2, 0, 0)
        assert client.bank(bank).get_operation(operation=operation.name).response
        assert client.bank(bank).reindex().result().kept == 2
    assert distances(caller, bank, stream.scope) == before
    assert caller.get(f"{bank}/usage")["days"][0]["embeddingTokens"] > 0


def test_a_reindex_that_never_was_is_not_found(caller: Caller) -> None:
    """Another number, and another bank, are 404."""
    bank, other = caller.bank(), caller.bank()
    done = caller.post(f"{bank}:reindex", {})
    assert done["name"].endswith("/operations/reindex-1")
    assert caller.get(done["name"]) == done
    for name in (f"{bank}/operations/reindex-2", f"{other}/operations/reindex-1"):
        caller.get(name, status=404)
