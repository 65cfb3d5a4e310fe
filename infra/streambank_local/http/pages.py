"""What a browser sees of local mode: a page that says what runs here, and the description of the API."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from streambank_local.http.payload import Response
from streambank_local.installation import stack_folder

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
    "background:light-dark(#fff,#16181d);color:light-dark(#1d1f24,#e6e7ea)}"
    ":root{color-scheme:light dark}"
    "code,pre{font-family:ui-monospace,monospace;font-size:.9em;overflow-wrap:anywhere}"
    "pre{padding:1rem;overflow-x:auto;border:1px solid;border-radius:.4rem}"
    "h2{margin-top:2rem}dt{margin-top:.8rem}dd{margin-left:1.5rem}"
)
# Nothing is loaded from anywhere: the pages work without a network, and tell nobody that they are read.
_HEADERS = (
    ("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'"),
    ("x-content-type-options", "nosniff"),
    ("cache-control", "no-store"),
)


def openapi_file() -> Path:
    """Return the file of the API's description: in docs/ of a clone, beside the stack's template in a wheel."""
    folder = stack_folder()
    clone = folder / "docs" / "openapi.json"
    return clone if clone.is_file() else folder / "openapi.json"


def page(path: str, base_url: str) -> Response | None:
    """Return what is at a path that needs no token, or None."""
    match path:
        case "/":
            return _html("Streambank", _home(base_url))
        case "/docs":
            return _html("Streambank: the API", _api(json.loads(openapi_file().read_text(encoding="utf-8"))))
        case "/openapi.json":
            return _response("application/json", openapi_file().read_bytes())
    return None


def _html(title: str, parts: Iterator[str]) -> Response:
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    body = "\n".join(parts)
    text = (
        f'<!doctype html>\n<html lang="en"><head>{head}<style>{_STYLE}</style></head><body>\n{body}\n</body></html>\n'
    )
    return _response("text/html; charset=utf-8", text.encode())


def _response(kind: str, content: bytes) -> Response:
    return Response(200, content, (("content-type", kind), *_HEADERS))


def _home(base_url: str) -> Iterator[str]:
    url = escape(base_url)
    yield "<h1>Streambank</h1>"
    yield (
        "<p>Long-term memory for agents runs here, in local mode: the whole service in one process, on this machine "
        "only. Applications send conversation events; memories come out.</p>"
    )
    yield "<h2>Try it</h2><p>In a terminal:</p>"
    yield (
        f"<pre>export STREAMBANK_URL={url}\nstreambank chat --scope user_id=ada\n"
        "streambank memories --scope user_id=ada</pre>"
    )
    yield "<p>In Python, with <code>pip install streambank-client</code>:</p>"
    yield (
        f'<pre>from streambank_client import Event, Streambank\n\nbank = Streambank("{url}", token="local").bank()\n'
        'scope = {"user_id": "ada"}\n'
        'bank.ingest_events(scope=scope, events=[Event.from_text("I live in Graz.")], force_flush=True).wait()\n'
        'print([one.memory.fact for one in bank.retrieve_memories(scope=scope, query="Where do I live?")])</pre>'
    )
    yield "<h2>Where next</h2><ul>"
    yield '<li><a href="/docs">The API</a>: every route, as a page; <a href="/openapi.json">as OpenAPI 3.1</a>.</li>'
    yield "<li><code>streambank --help</code>: everything that the command can do.</li>"
    yield "</ul>"


def _api(document: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h1>{escape(document['info']['title'])}</h1>"
    yield f"<p>{escape(document['info'].get('description', ''))}</p>"
    yield '<p>Each request needs <code>Authorization: Bearer ...</code>. <a href="/openapi.json">OpenAPI 3.1</a></p>'
    for path, methods in document["paths"].items():
        yield f"<h2><code>{escape(path)}</code></h2><dl>"
        for method, operation in methods.items():
            if isinstance(operation, Mapping):
                yield from _operation(method, operation, document)
        yield "</dl>"


def _operation(method: str, operation: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[str]:
    yield f"<dt><strong>{escape(method.upper())}</strong> {escape(operation.get('summary', ''))}</dt>"
    parameters = [_resolved(one, document) for one in operation.get("parameters", ())]
    names = [one["name"] for one in parameters if one["in"] == "query"]
    if names:
        yield f"<dd>query: {', '.join(f'<code>{escape(name)}</code>' for name in names)}</dd>"
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if body:
        yield f"<dd>body: {_fields(body, document)}</dd>"
    for status, reply in operation.get("responses", {}).items():
        schema = reply.get("content", {}).get("application/json", {}).get("schema")
        if status == "200" and schema:
            yield f"<dd>reply: {_fields(schema, document)}</dd>"


def _fields(schema: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    """Return the names of a shape's fields, those that are required in bold."""
    resolved = _resolved(schema, document)
    required = set(resolved.get("required", ()))
    names = [
        f"<strong><code>{escape(name)}</code></strong>" if name in required else f"<code>{escape(name)}</code>"
        for name in resolved.get("properties", {})
    ]
    return ", ".join(names) or "an object"


def _resolved(schema: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = schema.get("$ref")
    if reference is None:
        return schema
    target: Any = document
    for part in reference.removeprefix("#/").split("/"):
        target = target[part]
    resolved: Mapping[str, Any] = target
    return resolved
