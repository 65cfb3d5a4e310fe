"""JSON schemas of everything that goes in or comes out, made from the declarations in `streambank.wire`."""

from collections.abc import Iterable
from typing import Any, get_args

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, models_json_schema
from pydantic_core import core_schema

from streambank.wire.model import DESCRIBED_BY

JsonObject = dict[str, Any]
_COMPONENTS = "#/components/schemas/"


class _Schemas(GenerateJsonSchema):
    """Leaves out null, which counts as absent, and titles and defaults that only repeat the names."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonObject:
        """Return the schema of what may be null."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonObject:
        """Return the schema of what has a default; a default that is empty says nothing."""
        described = super().default_schema(schema)
        return {
            key: value for key, value in described.items() if key != "default" or value not in (None, "", (), [], {})
        }

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  the base class's
        """Tell that names need no second spelling."""
        return False


def components(replies: Iterable[Any], requests: Iterable[type[BaseModel]]) -> JsonObject:
    """Return the schemas by their names; where a reply and a request share a name, the request's is the stricter."""
    described: JsonObject = {}
    described |= _of_replies(replies)
    todo = list(requests)
    while todo:
        new = _of_requests(todo)
        described |= new
        todo = [model for model in _described_by_hand(new) if model.__name__ not in new]
    return {name: _referring(_with_nested_alternatives(_untitled(described[name]))) for name in sorted(described)}


def _of_replies(types: Iterable[Any]) -> JsonObject:
    named = sorted(set(types), key=lambda one: str(one.__name__))
    _, schemas = TypeAdapter.json_schemas(
        [(one, "validation", TypeAdapter(one)) for one in named],
        ref_template=_COMPONENTS + "{model}",
        schema_generator=_Schemas,
    )
    return dict(schemas["$defs"])


def _of_requests(models: Iterable[type[BaseModel]]) -> JsonObject:
    named = sorted(set(models), key=lambda model: model.__name__)
    _, schemas = models_json_schema(
        [(model, "validation") for model in named], ref_template=_COMPONENTS + "{model}", schema_generator=_Schemas
    )
    return dict(schemas["$defs"])


def _described_by_hand(node: Any) -> list[type[BaseModel]]:
    """Return the models that describe values which are read by hand, wherever they are in *node*."""
    if isinstance(node, dict):
        own = [node[DESCRIBED_BY]] if DESCRIBED_BY in node else []
        return own + [model for value in node.values() for model in _described_by_hand(value)]
    return [model for value in node for model in _described_by_hand(value)] if isinstance(node, list) else []


def _referring(node: Any) -> Any:
    """Return *node* with references in the place of models that describe values read by hand."""
    if isinstance(node, dict):
        return reference(node[DESCRIBED_BY]) if DESCRIBED_BY in node else {key: _referring(node[key]) for key in node}
    return [_referring(value) for value in node] if isinstance(node, list) else node


def _with_nested_alternatives(schema: JsonObject) -> JsonObject:
    """Return an object's schema with its alternatives in `allOf`.

    TypeScript's generator takes alternatives beside properties for other shapes, and then accepts any.
    """
    kinds = [kind for kind in ("anyOf", "oneOf") if kind in schema and "properties" in schema]
    if not kinds:
        return schema
    rest = {key: value for key, value in schema.items() if key not in kinds}
    return rest | {"allOf": [*schema.get("allOf", ()), *({kind: schema[kind]} for kind in kinds)]}


def _untitled(schema: JsonObject) -> JsonObject:
    return {key: value for key, value in schema.items() if key != "title"}


def alternatives(shape: Any) -> tuple[Any, ...]:
    """Return the types of a union, or the one type that *shape* is."""
    return get_args(shape) or (shape,)


def reference(shape: Any) -> JsonObject:
    """Return what stands for the schema of *shape*."""
    names = [{"$ref": _COMPONENTS + one.__name__} for one in alternatives(shape)]
    return names[0] if len(names) == 1 else {"anyOf": names}
