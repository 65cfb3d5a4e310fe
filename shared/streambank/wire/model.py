"""Models of request bodies: either spelling of a field, nothing unknown, every refusal by its path.

One model reads a body and describes it in the OpenAPI document. The body of IngestEvents is read by hand instead
(`wire/ingest.py`), since importing pydantic would cost that function a third of its cold start.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, LiteralString, Self

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError, core_schema

from streambank.errors import InvalidArgument, PayloadTooLarge
from streambank.model import ids
from streambank.wire import hints, reader

JsonSchema = dict[str, Any]
# Stands for a reference to the schema of another model, until the document is put together.
DESCRIBED_BY = "x-described-by"
# The types of our own errors among pydantic's.
_RULE, _UNKNOWN_FIELD = "rule", "unknown_field"


class RequestModel(BaseModel):
    """An object in a request. Null counts as absent."""

    model_config = ConfigDict(
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        frozen=True,
        # A function that is being loaded builds no validators: each route builds its own at its first call.
        defer_build=True,
    )
    # Pairs of fields that exclude each other, by their camelCase names.
    exclusive: ClassVar[Sequence[tuple[str, str]]] = ()

    @classmethod
    def parse(cls, body: Any) -> Self:
        """Return *body* as this model. Raises InvalidArgument naming the first field that breaks a rule."""
        try:
            return cls.model_validate(body, strict=True)
        except ValidationError as error:
            errors = error.errors(include_url=False, include_input=False)
            # A field that is unknown is often the reason for one that is missing.
            unknown = (one for one in errors if one["type"] == _UNKNOWN_FIELD)
            raise _refusal(next(unknown, errors[0])) from None

    def body_fingerprint(self) -> bytes:
        """Return a hash of what was read: the order and spelling of fields make no difference, nor do defaults."""
        return ids.fingerprint(self.model_dump(exclude_defaults=True))

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, value: Any) -> Any:
        """Drop nulls; refuse unknown fields, a field in two spellings, and fields that exclude each other."""
        if not isinstance(value, Mapping):
            raise rule("must be an object")
        allowed = {field.alias or name for name, field in cls.model_fields.items()}
        names = allowed | cls.model_fields.keys()
        unknown = next((key for key, item in value.items() if key not in names and item is not None), None)
        if unknown is not None:
            raise rule(hints.unknown_field(unknown, allowed), unknown, kind=_UNKNOWN_FIELD)
        spelled: dict[str, str] = {}
        for key in value:
            name = reader.camel(key)
            if name in spelled:
                raise rule("given twice, in two spellings", key)
            spelled[name] = key
        present = {key: item for key, item in value.items() if item is not None}
        for first, second in cls.exclusive:
            if spelled.get(first) in present and spelled.get(second) in present:
                raise rule(f"excludes {second}", spelled[first])
        return present

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchema:
        described = handler(schema)
        target = handler.resolve_ref_schema(described)
        if cls.exclusive:
            target["allOf"] = [{"not": {"required": list(pair)}} for pair in cls.exclusive]
        return described


class OneOfModel(RequestModel):
    """An object of which exactly one field is given."""

    @model_validator(mode="after")
    def _check_count(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise rule("must have exactly one of " + ", ".join(type(self).model_fields))
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchema:
        described = handler(schema)
        handler.resolve_ref_schema(described).update(minProperties=1, maxProperties=1)
        return described


class Read:
    """A field that a function of `wire` reads: `Annotated[datetime, Read(reader.instant, {"type": "string"})]`.

    The function takes the value and its path, here always empty, and raises InvalidArgument. *keeps_value* checks and
    leaves the value as it was sent.
    """

    def __init__(self, read: Callable[[Any, str], Any], schema: JsonSchema, *, keeps_value: bool = False) -> None:
        self._read = read
        self._schema = schema
        self._keeps_value = keeps_value

    def _validate(self, value: Any) -> Any:
        try:
            read = self._read(value, "")
        except PayloadTooLarge:
            raise  # another status; its path is that of the whole body
        except InvalidArgument as error:
            raise rule(error.problem, error.field) from None
        return value if self._keeps_value else read

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        del source, handler
        return core_schema.no_info_plain_validator_function(self._validate)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchema:
        del schema, handler
        return dict(self._schema)


def described_by(model: type[BaseModel]) -> JsonSchema:
    """Return the schema of a value that is read by hand, and is described by *model*."""
    return {DESCRIBED_BY: model}


def rule(problem: str, field: str = "", *, kind: LiteralString = _RULE) -> PydanticCustomError:
    """Return the error of a rule that *field*, below the place that is being validated, breaks."""
    return PydanticCustomError(kind, "{problem}", {"problem": problem, "field": field})


# What pydantic's own errors say here; the rest say what they say.
_PROBLEMS: Mapping[str, str] = {
    "missing": "is required",
    "bool_type": "must be true or false",
    "dict_type": "must be an object",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "string_type": "must be a string",
    "float_type": "must be a number",
    "literal_error": "must be {expected}",
    "string_pattern_mismatch": "must match {pattern}",
    "string_too_long": "must have at most {max_length} characters",
    "string_too_short": "must have at least {min_length} characters",
    "too_long": "must have at most {max_length} elements, not {actual_length}",
    "too_short": "must have at least {min_length} elements",
}


def _refusal(error: ErrorDetails) -> InvalidArgument:
    context = error.get("ctx", {})
    path = _joined(error["loc"])
    if error["type"] in (_RULE, _UNKNOWN_FIELD):
        return InvalidArgument(_below(path, context["field"]), context["problem"])
    problem = _PROBLEMS.get(error["type"])
    return InvalidArgument(path, problem.format(**context) if problem else error["msg"])


def _joined(loc: Sequence[str | int]) -> str:
    path = ""
    for part in loc:
        path = f"{path}[{part}]" if isinstance(part, int) else reader.join(path, part)
    return path


def _below(path: str, field: str) -> str:
    if not field or not path:
        return path or field
    return path + field if field.startswith("[") else reader.join(path, field)
