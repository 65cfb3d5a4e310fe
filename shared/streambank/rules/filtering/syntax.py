"""Filters as trees: parsed from text, and written back as text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from streambank.rules.filtering import grammar, literals
from streambank.rules.filtering.syntax_error import FilterSyntaxError

if TYPE_CHECKING:
    from lark import Token, Tree, UnexpectedInput

MAX_BYTES = 4_096
MAX_NESTING = 32
MAX_COMPARISONS = 100
# The parser builds a path again for each of its names: a thousand names would take a second.
MAX_DOTS = 8
_KEY = re.compile(grammar.KEY)
# Names for the tokens that the parser may expect; the first one that it expects goes into the message.
_TOKEN_NAMES = (
    ("WORD", "a value"),
    ("OPERATOR", "an operator"),
    ("KEY", "a key"),
    ("NAME", "a comparison"),
    ("RPAR", "a closing parenthesis"),
)


class Op(StrEnum):
    EQUALS = "="
    DIFFERS = "!="
    BELOW = "<"
    AT_MOST = "<="
    ABOVE = ">"
    AT_LEAST = ">="
    MATCHES = "=~"
    AVOIDS = "!~"
    HAS = ":"


@dataclass(frozen=True, slots=True)
class Word:
    """A value as written, escapes resolved."""

    text: str
    quoted: bool = True
    column: int = field(default=1, compare=False)

    @property
    def is_star(self) -> bool:
        """Tell whether this is a `*` without quotes, which tests for presence."""
        return self.text == "*" and not self.quoted


@dataclass(frozen=True, slots=True)
class Comparison:
    path: tuple[str, ...]
    op: Op
    word: Word
    column: int = field(default=1, compare=False)
    op_column: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    part: Node


@dataclass(frozen=True, slots=True)
class And:
    """At least two parts, none of them an And."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least two parts, none of them an Or."""

    parts: tuple[Node, ...]


Node: TypeAlias = "Comparison | Not | And | Or"


def parse_tree(text: str) -> Node:
    """Return the tree of a filter that is not blank. Raises FilterSyntaxError if it is not valid."""
    _check_size(text)
    # Imported here: it takes 100 ms, and only requests with a filter need it.
    from lark import UnexpectedInput  # noqa: PLC0415

    try:
        tree = _parse(text)
    except UnexpectedInput as error:
        raise _to_syntax_error(error, text) from error
    return _node(tree)


def _check_size(text: str) -> None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise FilterSyntaxError(error.start + 1, "half of a surrogate pair is not valid text") from error
    if size > MAX_BYTES:
        raise FilterSyntaxError(1, f"the filter has {size} bytes of UTF-8; the limit is {MAX_BYTES}")


def _parse(text: str) -> Tree[Token]:
    """Return the parser's tree, and check limits while it grows, because the code after it is recursive."""
    interactive = grammar.parser().parse_interactive(text)
    nesting = comparisons = dots = 0
    token = None
    for token in interactive.iter_parse():
        nesting += {"LPAR": 1, "RPAR": -1}.get(token.type, 0)
        comparisons += token.type == "OPERATOR"
        dots = 0 if token.type == "OPERATOR" else dots + (token.type == "DOT")
        if dots > MAX_DOTS:
            raise FilterSyntaxError(_column(token), f"there are more than {MAX_DOTS} dots in a name")
        if nesting > MAX_NESTING:
            raise FilterSyntaxError(_column(token), f"more than {MAX_NESTING} parentheses are open")
        if comparisons > MAX_COMPARISONS:
            raise FilterSyntaxError(_column(token), f"there are more than {MAX_COMPARISONS} comparisons")
    return cast("Tree[Token]", interactive.feed_eof(token))  # type: ignore[no-untyped-call]


def _column(token: Token) -> int:
    return (token.start_pos or 0) + 1


def _to_syntax_error(error: UnexpectedInput, text: str) -> FilterSyntaxError:
    allowed: Collection[str] = getattr(error, "allowed", None) or getattr(error, "expected", None) or ()
    expected = next((words for name, words in _TOKEN_NAMES if name in allowed), "the end")
    token: Token | None = getattr(error, "token", None)
    if token is not None and token.type == "$END":
        return FilterSyntaxError(len(text) + 1, f"the filter ends, but {expected} is expected")
    at = error.pos_in_stream or 0
    actual = str(token if token is not None else text[at])
    if token is None and actual in {'"', "'"} and "STRING" in allowed:
        return FilterSyntaxError(at + 1, "this quote is not closed")
    return FilterSyntaxError(at + 1, f"expected {expected}, not {actual[:30]!r}")


def _node(tree: Tree[Any]) -> Node:
    match tree.data:
        case "comparison":
            return _comparison(*tree.children)
        case "negation":
            return Not(_node(tree.children[0]))
        case "factor":
            return Or(tuple(_flat(Or, tree)))
    return And(tuple(_flat(And, tree)))


def _flat(kind: type[And | Or], tree: Tree[Any]) -> Iterator[Node]:
    for child in map(_node, tree.children):
        yield from child.parts if isinstance(child, kind) else (child,)


def _comparison(path: Any, operator: Any, value: Any) -> Comparison:
    names = tuple(_text(name, is_pattern=False) for name in path.children)
    op = Op(operator)
    text = _text(value, is_pattern=op in {Op.MATCHES, Op.AVOIDS})
    word = Word(text, value.type == "STRING", _column(value))
    return Comparison(names, op, word, _column(path.children[0]), _column(operator))


def _text(token: Token, *, is_pattern: bool) -> str:
    if token.type != "STRING":
        return str(token)
    return literals.unquote(token, _column(token), is_pattern=is_pattern)


def comparisons(node: Node) -> Iterator[Comparison]:
    """Yield every comparison of a tree, from left to right."""
    match node:
        case Comparison():
            yield node
        case Not(part):
            yield from comparisons(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from comparisons(part)


def write(node: Node) -> str:
    """Return the canonical text of a tree; parsing it gives the tree again if it is within the limits."""
    match node:
        case Comparison(path, op, word):
            return ".".join(map(_written_key, path)) + op + _written(word)
        case Not(part):
            return "NOT " + _inner(part)
        case And(parts):
            return " AND ".join(map(_inner, parts))
        case Or(parts):
            return " OR ".join(map(_inner, parts))


def _inner(node: Node) -> str:
    return write(node) if isinstance(node, Comparison) else f"({write(node)})"


def _written(word: Word) -> str:
    return literals.quote(word.text) if word.quoted else word.text


def _written_key(key: str) -> str:
    return key if _KEY.fullmatch(key) else literals.quote(key)
