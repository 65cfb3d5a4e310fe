"""The OpenAPI description of the service; `python -m infra.openapi` writes docs/openapi.json."""
