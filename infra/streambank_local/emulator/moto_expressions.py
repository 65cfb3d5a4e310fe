"""Makes moto's expressions faster: what depends on the expression's text alone is worked out once.

Measured on moto 5.2.5, in a profile of the pipeline's tests: a quarter of the time went into walking through the tree
of each update ten times, and into cutting the same conditions into words again.
"""

from collections import deque
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from moto.dynamodb.comparisons import ConditionExpressionParser
from moto.dynamodb.parsing import ast_nodes as _nodes

# Moto's module has no types.
nodes: Any = _nodes
# A question to an abstract class is slow, and a tree is asked thousands of times.
_KINDS = frozenset(kind for kind in vars(nodes).values() if isinstance(kind, type) and issubclass(kind, nodes.Node))
_CONTAINERS = frozenset(kind for kind in _KINDS if issubclass(kind, (nodes.Expression, nodes.UpdateExpressionFunction)))


def parse_once(original: Callable[[str], Any]) -> Any:
    """Let each update expression be parsed once: moto copies the tree before it changes it."""
    return staticmethod(lru_cache(maxsize=1_000)(original))


def split_once(original: Callable[[Any], "deque[Any]"]) -> Callable[[Any], "deque[Any]"]:
    """Let each condition be cut into words once: moto builds new nodes from them."""

    @lru_cache(maxsize=1_000)
    def words(condition: str) -> tuple[Any, ...]:
        return tuple(original(ConditionExpressionParser(condition, None, None)))

    return lambda parser: deque(words(parser.condition_expression))


def copy_tree(node: Any, memo: dict[int, Any]) -> Any:
    """Return a copy of a tree's node with its children; *memo* has the copies by the id of their originals."""
    if id(node) in memo:
        return memo[id(node)]
    result = memo[id(node)] = object.__new__(type(node))
    vars(result).update(vars(node))
    if node.parent is not None:
        result.parent = copy_tree(node.parent, memo)
    if node.children is not None:
        result.children = [copy_tree(child, memo) if type(child) in _KINDS else child for child in node.children]
    return result


def find_clauses(node: Any, clause_types: list[type]) -> list[Any]:
    """Return the clauses of some types below a node, from left to right."""
    clauses: list[Any] = []
    for child in node.children or ():
        if type(child) in clause_types:
            clauses.append(child)
        elif type(child) in _CONTAINERS:
            clauses += find_clauses(child, clause_types)
    return clauses


def walk(traverser: Any, root: Any) -> Any:
    """Process a tree's nodes from its leaves to *root*; return the node that takes the root's place."""
    prepare = traverser.pre_processing_of_child
    prepares = type(traverser).pre_processing_of_child is not nodes.DepthFirstTraverser.pre_processing_of_child
    processing = traverser._processing_map()  # noqa: SLF001
    processors = {kind: processing[base] for kind, base in _processed(tuple(processing)).items()}
    return _walk(root, -1, prepare if prepares else None, processors)


@cache
def _processed(bases: tuple[type, ...]) -> dict[type, type]:
    """Return the kinds of nodes that are among *bases*, each with the first base that it is of."""
    first = {kind: next((base for base in bases if issubclass(kind, base)), None) for kind in _KINDS}
    return {kind: base for kind, base in first.items() if base}


def _walk(node: Any, place: int, prepare: Any, processors: dict[type, Any]) -> Any:
    parent = node.parent
    for number, child in enumerate(node.children or ()):
        if prepare is not None:
            prepare(node, number)
        if type(child) in _KINDS:
            _walk(child, number, prepare, processors)
    process = processors.get(type(node))
    if process is not None:
        node = process(node)
        node.parent = parent
        if parent:
            parent.children[place] = node
    return node


def check_root(validator: Any, root: Any) -> Any:
    """Validate a whole expression at its root, which sees all clauses that the nodes below see."""
    (check,) = validator._processing_map().values()  # noqa: SLF001
    return check(root)
