"""JSON schemas of everything that goes in or comes out."""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema
from pydantic_core import core_schema

from infra.openapi.parameters import JsonObject


class _Schemas(GenerateJsonSchema):
    """Without null, which counts as absent, and without the titles and defaults that only repeat the names."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonObject:
        """Return the schema of what may be null."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonObject:
        """Return the schema of what has a default."""
        found = super().default_schema(schema)
        return {key: value for key, value in found.items() if key != "default" or value is not None}

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  the base class's
        """Tell that names need no second spelling."""
        return False


def components(*groups: Iterable[type[BaseModel]]) -> JsonObject:
    """Return the schemas by their names; a later group's take the place of an earlier one's."""
    found: JsonObject = {}
    for group in groups:
        inputs = sorted(set(group), key=lambda model: model.__name__)
        _, schemas = models_json_schema(
            [(model, "validation") for model in inputs],
            ref_template="#/components/schemas/{model}",
            schema_generator=_Schemas,
        )
        found |= schemas["$defs"]
    return {name: _untitled(found[name]) for name in sorted(found)}


def _untitled(schema: JsonObject) -> JsonObject:
    return {key: value for key, value in schema.items() if key != "title"}


def reference(model: type[BaseModel]) -> JsonObject:
    """Return what stands for the schema of *model*."""
    return {"$ref": f"#/components/schemas/{model.__name__}"}
