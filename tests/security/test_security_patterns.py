"""No caller chooses how long a pattern runs: theirs are RE2's, ours have no way to backtrack for ever."""

import ast
import importlib
import pkgutil
import re
import sys
from pathlib import Path

import pytest

import streambank
from streambank.errors import InvalidArgument
from streambank.model.bank import ProfileSchema
from streambank.rules import filtering, schemas
from streambank.rules.filtering import Kind, grammar
from streambank.wire import reader

ROOT = Path(streambank.__file__).parent
# The client runs on its caller's machine, on its caller's text; the embedded model is never deployed.
FILES = [path for path in sorted(ROOT.rglob("*.py")) if not {"client", "embedded"} & set(path.relative_to(ROOT).parts)]
FIELDS = {"fact": Kind.TEXT, "scope": Kind.TEXT_MAP}
HOSTILE = "^(a+)+$"

# Each of these repeats something that repeats; why there is one way only to read a text by it.
ONE_WAY_ONLY = {
    r"[a-z][a-z0-9]*(_[a-z0-9]+)+": "each repetition begins with an underscore, which is nowhere else",
}


def calls_of(module, path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        target = node.func if isinstance(node, ast.Call) else None
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == module:
            yield node


def is_constant(node):
    """A literal, or one that is put together from names in capitals."""
    if isinstance(node, ast.JoinedStr):
        return all(is_constant(part) for part in node.values)
    if isinstance(node, ast.FormattedValue) or (isinstance(node, ast.Attribute) and node.attr == "pattern"):
        return is_constant(node.value)
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) == "re.escape" and is_constant(node.args[0])
    name = getattr(node, "id", None) or getattr(node, "attr", None)
    return isinstance(node, ast.Constant) or (name is not None and name == name.upper())


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_pattern_of_a_caller_reaches_a_backtracking_engine(path):
    """Whatever Python's `re` is given is written in the source; callers' patterns have two doors, both RE2's."""
    assert all(is_constant(call.args[0]) for call in calls_of("re", path) if call.func.attr != "escape")
    is_door = path.relative_to(ROOT).as_posix() in {"rules/filtering/regex.py", "rules/schemas.py"}
    assert is_door or not list(calls_of("re2", path))


def our_patterns():
    names = {module.name for module in pkgutil.walk_packages(streambank.__path__, "streambank.")}
    skipped = ("streambank_client", "streambank_local.basic", "streambank.startup")
    modules = [importlib.import_module(name) for name in sorted(names) if not name.startswith(skipped)]
    found = {value.pattern for module in modules for value in vars(module).values() if isinstance(value, re.Pattern)}
    return found | {terminal.pattern.to_regexp() for terminal in grammar.parser().terminals}


def repeats_a_repetition(pattern):
    """Tell whether something without an end stands inside something without an end."""

    def has_endless(tree, *, inside):
        for op, argument in tree:
            is_endless = str(op).endswith("_REPEAT") and argument[1] == re._constants.MAXREPEAT
            if is_endless and inside:
                return True
            below = list(_trees(argument))
            if any(has_endless(one, inside=inside or is_endless) for one in below):
                return True
        return False

    return has_endless(re._parser.parse(pattern), inside=False)


def _trees(argument):
    if isinstance(argument, re._parser.SubPattern):
        yield argument
    if isinstance(argument, tuple | list):
        for one in argument:
            yield from _trees(one)


def test_the_detector_of_nested_repetitions_detects():
    """What is exponential is found, wherever it stands; what only looks like it is not."""
    assert all(map(repeats_a_repetition, [HOSTILE, "(?:x(?:a*b?)*)", "(a|b+)*", "(?=(a*)+)", "((a+){2,})"]))
    assert not any(map(repeats_a_repetition, ["a+b+", "(a{1,9}){1,9}", "(?:ab)+", "[a-z]*(x|y)"]))


def test_no_pattern_of_ours_repeats_a_repetition():
    """But for those that are listed with a reason, none of ours can be made to take exponential time."""
    assert {pattern for pattern in our_patterns() if repeats_a_repetition(pattern)} == set(ONE_WAY_ONLY)


# ---- schemas of banks


@pytest.mark.parametrize(
    "dialect", ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"]
)
def test_a_dialect_brings_no_backtracking_with_it(dialect):
    """`$schema` in a bank's schema changes no engine: what only a backtracking one can match is matched by none."""
    for wanted in (r"^(a)\1$", HOSTILE):
        own = {"type": "string", "pattern": wanted}
        below = {"type": "object", "properties": {"a": {"$schema": dialect, **own}}}
        itself = {"$schema": dialect, "type": "object", "properties": {"a": {"$ref": "#"}, "b": own}}
        schemas.check_schema({"jsonSchema": below}, "p")
        schemas.check_schema({"jsonSchema": itself}, "p")
        is_re2s = wanted is HOSTILE
        assert schemas.matches_schema({"a": "aa"}, ProfileSchema("s", below)) is is_re2s
        assert schemas.matches_schema({"a": {"b": "aa"}}, ProfileSchema("s", itself)) is is_re2s
        assert not schemas.matches_schema({"a": "a" * 5_000 + "!"}, ProfileSchema("s", below))


def test_a_field_may_be_called_schema():
    """What is left out is a dialect, never a property of that name."""
    schema = {"type": "object", "properties": {"$schema": {"type": "integer"}}}
    assert schemas.matches_schema({"$schema": 1}, ProfileSchema("s", schema))
    assert not schemas.matches_schema({"$schema": "x"}, ProfileSchema("s", schema))


def test_a_pattern_of_very_many_parentheses_is_the_callers_fault():
    """It is refused by its path where it is stored, and is no fault of ours."""
    deep = {"type": "object", "properties": {"a": {"type": "string", "pattern": "(" * 3_000 + ")" * 3_000}}}
    with pytest.raises(InvalidArgument) as refusal:
        schemas.check_schema({"jsonSchema": deep}, "the.path")
    assert refusal.value.field == "the.path"


@pytest.mark.parametrize(
    "part",
    [{"$ref": "#/nowhere"}, {"$ref": "#/properties/a"}, {"$id": "http://127.0.0.1:9/x", "$ref": "#/nowhere"}],
)
def test_a_schema_without_an_end_fits_nothing(part):
    """A reference to nothing, to itself or into another document's name stops no window, and fetches nothing."""
    assert not schemas.matches_schema({"a": "x"}, ProfileSchema("s", {"type": "object", "properties": {"a": part}}))


# ---- steps, counted


def steps(call, *arguments):
    """Return how many lines of Python a call runs."""
    count = 0

    def counted(_frame, event, _argument):
        nonlocal count
        count += event == "line"
        return counted

    before = sys.gettrace()
    sys.settrace(counted)
    try:
        call(*arguments)
    except InvalidArgument:
        pass
    finally:
        sys.settrace(before)
    return count


FILTERS = {
    "parentheses": lambda n: "(" * n,
    "closing ones": lambda n: ")" * n,
    "an open quote": lambda n: 'fact="' + "x" * n,
    "backslashes": lambda n: 'fact="' + "\\" * n,
    "minus signs": lambda n: "-" * n,
    "NOT": lambda n: "NOT " * (n // 4),
    "comparisons": lambda n: "fact=a OR " * (n // 10) + "fact=b",
    "dots": lambda n: "scope" + ".a" * (n // 2) + "=1",
    "a long word": lambda n: "fact=" + "a" * n,
    "keywords that are none": lambda n: "fact=" + "ANDOR" * (n // 5),
    "blanks": lambda n: " " * n + "fact=a",
    "stars": lambda n: "fact=" + "*" * n,
}


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_twice_as_long_takes_twice_the_steps(name):
    """Reading a filter, or refusing it, takes steps in proportion to its bytes, of which there are 4,096 at most."""
    filtering.parse("fact=a", FIELDS)  # builds the parser, once
    half, whole = (steps(filtering.parse, FILTERS[name](size), FIELDS) for size in (1_000, 2_000))
    assert whole <= 2.2 * half + 500
    assert steps(filtering.parse, FILTERS[name](1_000_000), FIELDS) < 500


BODIES = {
    "empty lists": lambda n: "[" + ",".join(["[]"] * n) + "]",
    "levels": lambda n: "[" * (n // 100) + "]" * (n // 100),
    "fields": lambda n: "{" + ",".join(f'"k_{at}":1' for at in range(n)) + "}",
    "one field many times": lambda n: "{" + ",".join(['"a_b":1'] * n) + "}",
    "underscores": lambda n: '{"' + "a_" * n + '":1}',
}


def read(text):
    value = reader.json_body(text, is_base64=False)
    reader.depth(value, 32)
    if isinstance(value, dict):
        reader.object_fields(value, "", frozenset(f"k{at}" for at in range(4_000)) | {"aB"})


@pytest.mark.parametrize("name", BODIES)
def test_a_body_twice_as_large_takes_twice_the_steps(name):
    """Reading a body takes steps in proportion to its size, whatever it is made of."""
    half, whole = (steps(read, BODIES[name](size)) for size in (2_000, 4_000))
    assert whole <= 2.2 * half + 500
