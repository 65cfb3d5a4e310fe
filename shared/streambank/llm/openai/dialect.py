"""What a model's server takes of OpenAI's API, learnt from its refusals and kept for the process."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from enum import IntEnum

from streambank.llm.openai.failures import Problem

# Statuses of a refusal; llama.cpp refuses tools with 500.
_REFUSALS = frozenset({400, 404, 422, 500, 501})
_LENGTH_FIELDS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": ""}
_REPLIES_WITHOUT_CALL = 2


class Form(IntEnum):
    """How the answer is asked for, the strictest form first."""

    NAMED_TOOL = 0
    ANY_TOOL = 1
    JSON_SCHEMA = 2
    TEXT = 3


@dataclass(frozen=True, slots=True)
class Dialect:
    """What is sent to a model; *length_field* is empty if its server takes no limit of the answer."""

    form: Form = Form.NAMED_TOOL
    has_temperature: bool = True
    length_field: str = "max_tokens"
    has_dimensions: bool = True
    has_encoding: bool = True


def adapted(dialect: Dialect, problem: Problem) -> Dialect:
    """Return *dialect* without what the server refuses with *problem*; the same if that is not known."""
    if problem.status not in _REFUSALS or problem.is_too_long or problem.names_no_model:
        return dialect
    text = problem.parameter or problem.message
    if "temperature" in text:
        return replace(dialect, has_temperature=False)
    if "max_tokens" in text or "max_completion_tokens" in text:
        return replace(dialect, length_field=_LENGTH_FIELDS.get(dialect.length_field, ""))
    if "dimensions" in text or "matryoshka" in text:
        return replace(dialect, has_dimensions=False)
    if "encoding_format" in text:
        return replace(dialect, has_encoding=False)
    return replace(dialect, form=_next_form(dialect.form, text))


def _next_form(form: Form, text: str) -> Form:
    is_about_choice = "tool_choice" in text or "type must be string" in text
    if form is Form.NAMED_TOOL and is_about_choice:
        return Form.ANY_TOOL
    if form < Form.JSON_SCHEMA and (is_about_choice or "tool" in text or "function" in text):
        return Form.JSON_SCHEMA
    if form is Form.JSON_SCHEMA and any(hint in text for hint in ("response_format", "schema", "grammar")):
        return Form.TEXT
    return form


class Dialects:
    """The dialect of each model."""

    def __init__(self) -> None:
        self._known: dict[str, Dialect] = {}
        self._without_call: Counter[str] = Counter()

    def of(self, model: str, *, is_second_try: bool = False) -> Dialect:
        """Return the dialect of *model*; after replies without a call of the tool it is a JSON schema."""
        dialect = self._known.get(model, Dialect())
        allowed = 1 if is_second_try else _REPLIES_WITHOUT_CALL
        if dialect.form < Form.JSON_SCHEMA and self._without_call[model] >= allowed:
            return replace(dialect, form=Form.JSON_SCHEMA)
        return dialect

    def learn(self, model: str, problem: Problem, used: Dialect) -> bool:
        """Remember what the server refused of the dialect that was *used*; return whether anything is different now."""
        dialect = adapted(used, problem)
        self._known[model] = dialect
        return dialect != used

    def note_reply(self, model: str, *, has_answer: bool) -> None:
        """Count a reply to a request with a tool that has no answer; one with an answer begins the count anew."""
        self._without_call[model] = 0 if has_answer else self._without_call[model] + 1
