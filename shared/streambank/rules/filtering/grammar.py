"""The grammar of filters: AIP-160 (https://google.aip.dev/160) plus `=~` and `!~`, which Memory Bank's filters have.

OR binds tighter than AND, as AIP-160 has it and SQL has not: `a=1 AND b=2 OR c=3` is `a=1 AND (b=2 OR c=3)`.
Left out: functions, and words without a field.
"""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lark import Lark

KEY = r"[\w-]+"
# What ends a word. `*` is among it: AIP-160's wildcards are not supported, and must not pass for a letter.
_ENDS = r"""\s"'()\\,=<>!~*{}\[\]\x00-\x1f\x7f"""
_KEYWORD = rf"(?:AND|OR|NOT)(?![^{_ENDS}])"
WORD = rf"(?!{_KEYWORD})[^{_ENDS}:][^{_ENDS}]*"

GRAMMAR = rf"""
?start: expression
?expression: sequence (_AND sequence)*
?sequence: factor+
?factor: term (_OR term)*
?term: simple | (_NOT | "-") simple -> negation
?simple: comparison | "(" expression ")"
comparison: path OPERATOR value
path: NAME ("." (KEY | STRING))*
?value: WORD | STRING | STAR

_AND: /AND(?!\w)/
_OR: /OR(?!\w)/
_NOT: /NOT(?!\w)/
NAME: /(?!(?:AND|OR|NOT)(?!\w))[A-Za-z_][A-Za-z0-9_]*/
KEY: /{KEY}/
OPERATOR: /=~|!~|!=|<=|>=|[=<>:]/
WORD: /{WORD}/
STAR: "*"
STRING: /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/s
%ignore /\s+/
"""

_building = Lock()


def parser() -> Lark:
    """Return the parser, which the first call builds: a tenth of a second that only callers with a filter pay."""
    with _building:
        return _built()


@cache
def _built() -> Lark:
    from lark import Lark

    return Lark(GRAMMAR, parser="lalr")
