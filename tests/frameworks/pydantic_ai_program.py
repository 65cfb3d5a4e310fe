"""Runs agents of pydantic-ai with the memory, and prints what their model was given and what their history has."""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import httpx
from pydantic_ai import Agent, ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.models.function import DeltaToolCall, FunctionModel

from streambank_client import Streambank
from streambank_client.agent_memory import AgentMemory
from streambank_client.pydantic_ai import StreambankMemory

RULE = {"event_count": 10_000}


class Switch(httpx.HTTPTransport):
    """A service that is away while *is_off*."""

    is_off = False

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self.is_off:
            raise httpx.ConnectError("away")
        return super().handle_request(request)


def call(name: str, **arguments: Any) -> ModelResponse:
    return ModelResponse(parts=[ToolCallPart(name, arguments, tool_call_id=f"call-{name}")])


def user_texts(messages: list[Any]) -> list[str]:
    return [
        part.content
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, UserPromptPart)
    ]


class Cases:
    def __init__(self, url: str) -> None:
        self.switch = Switch()
        self.bank = Streambank(url, token="local", transport=self.switch, retries=0).bank()
        self.seen: list[list[str]] = []
        self.returns: list[str] = []
        self.tools: list[str] = []

    def memory(self, user: str, **parts: bool) -> StreambankMemory:
        memory = AgentMemory(self.bank, scope=lambda ctx: {"user_id": ctx.deps}, generation_rule=RULE)
        return StreambankMemory(memory, **parts)

    def agent(self, script: list[Any], *capabilities: Any) -> Agent[str, str]:
        self.seen, self.returns = [], []

        def answer(messages: list[Any], info: Any) -> ModelResponse:
            self.seen.append(user_texts(messages))
            self.tools = [tool.name for tool in info.function_tools]
            parts = [part for part in messages[-1].parts if part.part_kind == "tool-return"]
            self.returns += [part.content for part in parts]
            step = script.pop(0)
            return ModelResponse(parts=[TextPart(step)]) if isinstance(step, str) else step

        async def stream(messages: list[Any], info: Any) -> Any:
            response = answer(messages, info)
            for part in response.parts:
                if isinstance(part, TextPart):
                    yield part.content
                else:
                    yield {0: DeltaToolCall(part.tool_name, json.dumps(part.args), tool_call_id="call-1")}

        return Agent(FunctionModel(answer, stream_function=stream), deps_type=str, capabilities=capabilities)

    def learn(self, user: str, conversation: str) -> None:
        self.bank.ingest_events(scope={"user_id": user}, stream_id=conversation, force_flush=True).wait()

    def conversation(self, user: str) -> Any:
        memory = self.memory(user)
        agent = self.agent([call("recall", query="tea"), "Noted.", "I see.", "In Graz."], memory)
        first = agent.run_sync("I live in Graz.", deps=user)
        second = agent.run_sync("I like tea.", deps=user, message_history=first.all_messages())
        self.learn(user, second.conversation_id)
        third = agent.run_sync("Where do I live?", deps=user)
        ctx = SimpleNamespace(deps=user, conversation_id=second.conversation_id)
        again = [memory.ingest(ctx, messages) for messages in (second.all_messages(), first.new_messages())]
        return {
            "prompt": self.seen[-1],
            "history": user_texts(third.all_messages()),
            "again": again,
            "is_same_conversation": first.conversation_id == second.conversation_id,
            "tools": self.tools,
        }

    def awaited(self, user: str) -> Any:
        agent = self.agent(["Noted.", "You like tea."], self.memory(user, tools=False))

        async def run() -> str:
            result = await agent.run("I like tea.", deps=user)
            await asyncio.to_thread(self.learn, user, result.conversation_id)
            async with agent.run_stream("What do I like?", deps=user) as streamed:
                return await streamed.get_output()

        return {"answer": asyncio.run(run()), "prompt": self.seen[-1], "tools": self.tools}

    def tool_calls(self, user: str) -> Any:
        script = [call("remember", text="My dog is called Rex."), "Done.", call("recall", query="dog"), "Rex."]
        agent = self.agent(script, self.memory(user, recall=False))
        agent.run_sync("Remember my dog's name: Rex.", deps=user)
        agent.run_sync("Who is my dog?", deps=user)
        return {"returns": self.returns, "prompt": self.seen[-1]}

    def processor(self, user: str) -> Any:
        memory = self.memory(user)
        self.bank.create_memory(scope={"user_id": user}, fact="Lives in Graz.")
        agent = self.agent(["One.", "Two."], ProcessHistory(memory.process_history))
        first = agent.run_sync("Where do I live?", deps=user)
        second = agent.run_sync("In which town do I live?", deps=user, message_history=first.all_messages())
        ctx = SimpleNamespace(deps=user, conversation_id="c")
        return {"prompts": self.seen, "is_stored": memory.ingest(ctx, second.all_messages())}

    def page(self, user: str) -> Any:
        names: dict[str, Any] = {}
        exec(sys.argv[2], names)
        self.bank.create_memory(scope={"user_id": user}, fact="Lives in Graz.")
        model = self.agent([call("recall", query="home"), "Graz."]).model
        memory = AgentMemory(self.bank, scope={"user_id": user}, generation_rule=RULE)
        output = names["recalling_agent"](model, memory).run_sync("Where do I live?").output
        return {"output": output, "prompt": self.seen[-1], "tools": self.tools}

    def away(self, user: str) -> Any:
        script = [call("remember", text="I like tea."), call("recall", query="tea"), "One."]
        agent = self.agent(script, self.memory(user))
        self.switch.is_off = True
        answer = agent.run_sync("I like tea.", deps=user).output
        self.switch.is_off = False
        return {"answer": answer, "returns": self.returns, "prompt": self.seen[-1]}


def main() -> None:
    cases = Cases(sys.argv[1])
    for line in sys.stdin:
        name = json.loads(line)
        try:
            user = f"pydantic-ai-{name}-{uuid4()}"
            answer = {**getattr(cases, name)(user), "user": user}
        except Exception:
            answer = {"error": traceback.format_exc()}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
