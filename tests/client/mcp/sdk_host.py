"""A program: a host that drives an MCP server with the client of the official SDK, a step a line.

It runs in the Python that has the SDK. Its argument is a JSON object: `command` and `env` of a server, or a `url` and
its `token`. Each line of its input is a step, each line of its output what came of it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import AsyncExitStack
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError


async def main() -> None:
    config = json.loads(sys.argv[1])
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(await server_of(config, stack), **config.get("options", {})))
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await take(client, json.loads(line))), flush=True)


async def server_of(config: dict[str, Any], stack: AsyncExitStack) -> Any:
    if "url" not in config:
        command, *arguments = config["command"]
        return StdioServerParameters(command=command, args=arguments, env=config["env"])
    headers = {"authorization": f"Bearer {config['token']}"} if config["token"] else {}
    http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=60))
    return streamable_http_client(config["url"], http_client=http)


async def take(client: Client, step: dict[str, Any]) -> Any:
    try:
        return await taken(client, step)
    except MCPError as error:
        return {"code": error.error.code, "message": error.error.message}


async def taken(client: Client, step: dict[str, Any]) -> Any:
    match step:
        case {"together": steps}:
            return await asyncio.gather(*(take(client, one) for one in steps))
        case {"tool": name, "arguments": arguments}:
            result = await client.call_tool(name, arguments)
            return {"text": result.content[0].text, "is_error": bool(result.is_error)}
        case {"uri": uri}:
            return {"text": (await client.read_resource(uri)).contents[0].text}
        case {"prompt": name, "arguments": arguments}:
            return {"text": (await client.get_prompt(name, arguments)).messages[0].content.text}
    return {
        "protocol": client.protocol_version,
        "instructions": client.instructions,
        "tools": [tool.model_dump(mode="json") for tool in (await client.list_tools()).tools],
        "resources": [one.uri for one in (await client.list_resources()).resources],
        "templates": [one.uri_template for one in (await client.list_resource_templates()).resource_templates],
        "prompts": [one.name for one in (await client.list_prompts()).prompts],
    }


if __name__ == "__main__":
    asyncio.run(main())
