"""A bank uses the deployment's own models and those that the deployment allows, and no other."""

import pytest

from streambank.errors import InvalidArgument
from streambank.rules.model_choice import check_models, choose_model

OWN = ("own.chat", "own.embed")
GOOGLES = "projects/p/locations/l/publishers/google/models/gemini-2.5-flash"


def named(model: str | None = None, embedding_model: str | None = None) -> dict:
    generation = {"generationConfig": {"model": model}} if model else {}
    search = {"similaritySearchConfig": {"embeddingModel": embedding_model}} if embedding_model else {}
    return {**generation, **search}


@pytest.mark.parametrize(
    ("document", "field"),
    [
        (named(model="dear.chat"), "config.generationConfig.model"),
        (named(embedding_model="dear.embed"), "config.similaritySearchConfig.embeddingModel"),
        (named("own.embed"), "config.generationConfig.model"),
        (named("other.chat", "other.chat2"), "config.similaritySearchConfig.embeddingModel"),
    ],
)
def test_another_model_is_refused_by_its_field(document, field):
    """A model that is neither the deployment's own nor on its list is 400, and the error names the field."""
    with pytest.raises(InvalidArgument) as refusal:
        check_models(document, "config", OWN, {"other.chat"})
    assert refusal.value.field == field


@pytest.mark.parametrize(
    ("document", "allowed"),
    [
        ({}, ()),
        (named(*OWN), ()),
        (named(GOOGLES, "text-embedding-005"), ()),
        (named("other.chat", "other.embed"), {"other.chat", "other.embed"}),
        (named("any.chat", "any.embed"), {"*"}),
    ],
)
def test_allowed_models_pass(document, allowed):
    """The own models, those on the list, and Google's names, which stand for the own models, are legal."""
    check_models(document, "config", OWN, allowed)


@pytest.mark.parametrize(
    ("requested", "allowed", "used"),
    [
        (None, (), "own.chat"),
        ("", (), "own.chat"),
        ("own.chat", (), "own.chat"),
        ("other.chat", {"other.chat"}, "other.chat"),
        ("other.chat", {"*"}, "other.chat"),
        ("other.chat", (), "own.chat"),
        (GOOGLES, {"*"}, "own.chat"),
    ],
)
def test_a_model_that_is_not_allowed_any_more_gives_way_to_the_own_one(requested, allowed, used):
    """A bank whose model was taken off the list goes on with the deployment's own model."""
    assert choose_model(requested, "own.chat", allowed) == used
