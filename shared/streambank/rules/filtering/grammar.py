"""The grammar of filters: AIP-160 (https://google.aip.dev/160) plus `=~` and `!~`, which Memory Bank's filters have.

OR binds tighter than AND, as in AIP-160 and unlike SQL: `a=1 AND b=2 OR c=3` is `a=1 AND (b=2 OR c=3)`.
Not supported: functions, and words without a field.
"""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lark import Lark

KEY = r"[\w-]+"
# The characters that end a word. `*` is one of them: AIP-160's wildcards are not supported, so it is no letter.
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

_building_lock = Lock()


def parser() -> Lark:
    """Return the parser; the first call builds it in a tenth of a second, so only callers with a filter pay."""
    with _building_lock:
        return _build()


@cache
def _build() -> Lark:
    # Imported here: it takes 100 ms, and only requests with a filter need it.
    from lark import Lark  # noqa: PLC0415

    return Lark(GRAMMAR, parser="lalr")
