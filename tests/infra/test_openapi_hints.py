"""What the fuzzer is told beyond the description."""

from infra.fuzz.hints import hinted, tamed
from infra.openapi.document import document

KNOWN = {"memory": ["kept"], "session": ["kept"], "operation": ["o-1"]}
DOOMED = {"memory": ["doomed"], "session": ["doomed"], "operation": ["o-2"]}


def test_paths_name_what_exists_and_deletions_what_may_go() -> None:
    """Every parameter of a path is one of the planted ids, and no deletion takes one that others need."""
    for methods in hinted(document(), KNOWN, DOOMED)["paths"].values():
        for method, operation in methods.items():
            for parameter in (one for one in operation["parameters"] if one["in"] == "path"):
                ids = parameter["schema"]["enum"]
                wanted = (DOOMED if method == "delete" else KNOWN).get(parameter["name"], ids)
                assert ids == wanted


def test_tame_schemas_are_their_examples() -> None:
    """A schema with examples allows nothing else, wherever it stands; the others stay as they are."""
    told = {"a": [{"type": "string", "examples": ["x"]}, {"type": "integer"}]}
    assert tamed(told) == {"a": [{"enum": ["x"]}, {"type": "integer"}]}
