"""The server of the SDK, with its handlers."""

from __future__ import annotations

import logging
from typing import Any

import mcp_types as protocol
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from streambank_client.errors import StreambankError
from streambank_client.mcp import answers, failures, guidance
from streambank_client.mcp.answers import Answer
from streambank_client.mcp.scoped_memories import ScopedMemories
from streambank_client.mcp.tools import INSTRUCTIONS, TOOLS, BadArguments, Tool, check_arguments
from streambank_client.version import __version__

NAME = "streambank"
_log = logging.getLogger(__name__)
_Context = ServerRequestContext[Any]
_Page = protocol.PaginatedRequestParams | None


def server_of(memories: ScopedMemories) -> Server[Any]:
    """Return a server of the memories of one scope."""
    handlers = _Handlers(memories)
    return Server(
        NAME,
        version=__version__,
        title="Streambank memory",
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_resource_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


class _Handlers:
    def __init__(self, memories: ScopedMemories) -> None:
        self._memories = memories

    async def list_tools(self, _: _Context, __: _Page) -> protocol.ListToolsResult:
        return protocol.ListToolsResult(tools=[_tool(tool) for tool in TOOLS.values()])

    async def call_tool(self, _: _Context, params: protocol.CallToolRequestParams) -> protocol.CallToolResult:
        tool = TOOLS.get(params.name)
        if tool is None:
            raise _bad_arguments(f"there is no such tool; there are {', '.join(TOOLS)}")
        try:
            arguments = check_arguments(tool, params.arguments or {})
        except BadArguments as error:
            raise _bad_arguments(str(error)) from None
        answer = await self._answer(tool, arguments)
        text = protocol.TextContent(type="text", text=answer.text)
        return protocol.CallToolResult(content=[text], is_error=answer.is_error)

    async def _answer(self, tool: Tool, arguments: dict[str, str]) -> Answer:
        """Return the answer of a tool, which is an error where the service failed; the server goes on."""
        begun = self._memories.now()
        try:
            answer = await self._memories.call(tool.name, arguments)
            outcome = "error" if answer.is_error else "ok"
        except StreambankError as error:
            answer, outcome = answers.error(failures.sentence(error)), type(error).__name__
        _log.info("tool_called tool=%s outcome=%s seconds=%.2f", tool.name, outcome, self._memories.now() - begun)
        return answer

    async def list_resources(self, _: _Context, __: _Page) -> protocol.ListResourcesResult:
        memories = protocol.Resource(
            uri=guidance.MEMORIES_URI,
            name="memories",
            title="Memories",
            description=guidance.MEMORIES_DESCRIPTION,
            mime_type=guidance.MEDIA_TYPE,
        )
        return protocol.ListResourcesResult(resources=[memories])

    async def list_resource_templates(self, _: _Context, __: _Page) -> protocol.ListResourceTemplatesResult:
        memory = protocol.ResourceTemplate(
            uri_template=guidance.MEMORY_URI_TEMPLATE,
            name="memory",
            title="Memory",
            description=guidance.MEMORY_DESCRIPTION,
            mime_type=guidance.MEDIA_TYPE,
        )
        return protocol.ListResourceTemplatesResult(resource_templates=[memory])

    async def read_resource(
        self, _: _Context, params: protocol.ReadResourceRequestParams
    ) -> protocol.ReadResourceResult:
        uri = str(params.uri)
        try:
            answer = await self._resource(uri)
        except StreambankError as error:
            raise _failure(error) from None
        if answer is None:
            raise MCPError(code=protocol.INVALID_PARAMS, message="Resource not found", data={"uri": uri})
        content = protocol.TextResourceContents(uri=uri, mime_type=guidance.MEDIA_TYPE, text=answer.text)
        return protocol.ReadResourceResult(contents=[content])

    async def _resource(self, uri: str) -> Answer | None:
        memory = guidance.memory_id(uri)
        if memory == "":
            return await self._memories.list_memories()
        return await self._memories.read_memory(memory) if memory else None

    async def list_prompts(self, _: _Context, __: _Page) -> protocol.ListPromptsResult:
        return protocol.ListPromptsResult(prompts=[_prompt(prompt) for prompt in guidance.PROMPTS.values()])

    async def get_prompt(self, _: _Context, params: protocol.GetPromptRequestParams) -> protocol.GetPromptResult:
        arguments = params.arguments or {}
        try:
            prompt = guidance.check_prompt(params.name, arguments)
            text = guidance.SAVE_TEXT if prompt is guidance.SAVE else await self._start(arguments.get("topic", ""))
        except BadArguments as error:
            raise _bad_arguments(str(error)) from None
        except StreambankError as error:
            raise _failure(error) from None
        message = protocol.PromptMessage(role="user", content=protocol.TextContent(type="text", text=text))
        return protocol.GetPromptResult(description=prompt.description, messages=[message])

    async def _start(self, topic: str) -> str:
        answer = await (self._memories.recall(topic) if topic.strip() else self._memories.list_memories())
        if answer.is_error:
            raise BadArguments(f"topic: {answer.text}")
        return guidance.start_text(answer.text)


def _tool(tool: Tool) -> protocol.Tool:
    hints = protocol.ToolAnnotations(
        read_only_hint=tool.is_read_only,
        destructive_hint=tool.is_destructive,
        idempotent_hint=tool.is_read_only,
        open_world_hint=False,
    )
    return protocol.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema(),
        annotations=hints,
    )


def _prompt(prompt: guidance.Prompt) -> protocol.Prompt:
    arguments = [
        protocol.PromptArgument(name=name, description=description, required=False)
        for name, description in prompt.arguments.items()
    ]
    return protocol.Prompt(
        name=prompt.name, title=prompt.title, description=prompt.description, arguments=arguments or None
    )


def _bad_arguments(message: str) -> MCPError:
    return MCPError(code=protocol.INVALID_PARAMS, message=message)


def _failure(error: StreambankError) -> MCPError:
    return MCPError(code=protocol.INTERNAL_ERROR, message=failures.sentence(error))
