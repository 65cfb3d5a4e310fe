"""What the fuzzer is told beyond the description."""

from infra.fuzz.hints import examples_only, with_examples, with_ids
from infra.openapi.document import document

KNOWN = {"memory": ["kept"], "session": ["kept"], "operation": ["o-1"], "review": ["r-1"]}
DOOMED = {"memory": ["doomed"], "session": ["doomed"], "operation": ["o-2"]}


def test_paths_name_what_exists_and_deletions_what_may_go() -> None:
    """Every parameter of a path is one of the planted ids, and no deletion takes one that others need."""
    for methods in with_ids(document(), KNOWN, DOOMED)["paths"].values():
        for method, operation in methods.items():
            for parameter in (one for one in operation["parameters"] if one["in"] == "path"):
                ids = parameter["schema"]["enum"]
                wanted = (DOOMED if method == "delete" else KNOWN).get(parameter["name"], ids)
                assert ids == wanted


def test_tame_schemas_are_their_examples() -> None:
    """A schema with examples allows nothing else, wherever it stands; the others stay as they are."""
    told = {"a": [{"type": "string", "examples": ["x"]}, {"type": "integer"}]}
    assert examples_only(told) == {"a": [{"enum": ["x"]}, {"type": "integer"}]}


def test_answers_are_described_as_they_are() -> None:
    """Only requests are reduced to their examples: a reply can have other values."""
    told, found = document(), with_examples(document())
    assert found["components"]["schemas"]["ErasureManifest"] == told["components"]["schemas"]["ErasureManifest"]
    assert "examples" in str(told["components"]["schemas"]["ErasureManifest"])
    for path, methods in told["paths"].items():
        for method, operation in methods.items():
            assert found["paths"][path][method]["responses"] == operation["responses"]


def test_requests_are_tamed_wherever_they_are_described() -> None:
    """No schema that a body refers to, through however many others, keeps its examples."""
    schemas = with_examples(document())["components"]["schemas"]
    assert schemas["EraseScopeRequest"]["properties"]["scope"] == {"enum": [{"user_id": "123"}]}
    nested = {
        "A": {"$ref": "#/components/schemas/B"},
        "B": {"items": [{"$ref": "#/components/schemas/A"}, {"examples": [1]}]},
    }
    body = {
        "paths": {"/": {"post": {"requestBody": {"$ref": "#/components/schemas/A"}}}},
        "components": {"schemas": nested},
    }
    assert with_examples(body)["components"]["schemas"]["B"]["items"][1] == {"enum": [1]}
