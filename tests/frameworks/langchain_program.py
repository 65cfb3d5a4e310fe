"""Runs agents of LangChain with the middleware, and prints what their model was given and what their state has."""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from typing import Any
from uuid import uuid4

import httpx
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver

from streambank_client import Streambank
from streambank_client.agent_memory import AgentMemory
from streambank_client.langchain import StreambankMiddleware

RULE = {"event_count": 10_000}


class Scripted(BaseChatModel):
    """Answers with its script, and keeps the prompts."""

    script: list[Any]
    prompts: list[Any]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        self.prompts.append([[message.type, message.text] for message in messages])
        answer = self.script.pop(0)
        if isinstance(answer, Exception):
            raise answer
        message = AIMessage(answer) if isinstance(answer, str) else answer
        return ChatResult(generations=[ChatGeneration(message=message)])


class Switch(httpx.HTTPTransport):
    """A service that is away while *is_off*."""

    is_off = False

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self.is_off:
            raise httpx.ConnectError("away")
        return super().handle_request(request)


def weather(city: str) -> str:
    """Return the weather of a city."""
    return f"It rains frogs in {city}."


class Cases:
    def __init__(self, url: str) -> None:
        self.switch = Switch()
        self.bank = Streambank(url, token="local", transport=self.switch, retries=0).bank()

    def agent(self, script: list[Any], *, is_kept: bool = True, prompt: Any = "Be helpful.", **settings: Any) -> Any:
        model = Scripted(script=script, prompts=[])
        memory = AgentMemory(
            self.bank,
            **{
                "scope": lambda runtime: {"user_id": runtime.context["user_id"]},
                "generation_rule": RULE,
                **settings,
            },
        )
        agent = create_agent(
            model,
            tools=[weather],
            system_prompt=prompt,
            middleware=[StreambankMiddleware(memory)],
            context_schema=dict,
            checkpointer=InMemorySaver() if is_kept else None,
        )
        return agent, model

    def invoke(self, agent: Any, user: str, thread: str, *messages: Any) -> Any:
        config = {"configurable": {"thread_id": thread}}
        return agent.invoke({"messages": list(messages)}, config, context={"user_id": user})

    def learn(self, user: str, thread: str) -> None:
        self.bank.ingest_events(scope={"user_id": user}, stream_id=thread, force_flush=True).wait()

    def conversation(self, user: str) -> Any:
        call = AIMessage("", tool_calls=[{"name": "weather", "args": {"city": "Zell"}, "id": "call-1"}])
        agent, model = self.agent([call, "It rains.", "Noted.", "In Graz."])
        self.invoke(agent, user, "monday", ("user", "What is the weather?"))
        self.invoke(agent, user, "monday", ("user", "I live in Graz."))
        self.learn(user, "monday")
        state = self.invoke(agent, user, "tuesday", ("user", "Where do I live?"))
        saved = agent.get_state({"configurable": {"thread_id": "tuesday"}}).values
        return {
            "prompts": model.prompts,
            "state": [[message.type, message.text] for message in state["messages"]],
            "keys": sorted(state),
            "saved": sorted(saved),
        }

    def awaited(self, user: str) -> Any:
        agent, model = self.agent(["Noted.", "Tea."], prompt=SystemMessage([{"type": "text", "text": "Be helpful."}]))

        async def run(thread: str, text: str) -> Any:
            config = {"configurable": {"thread_id": thread}}
            return await agent.ainvoke({"messages": [("user", text)]}, config, context={"user_id": user})

        asyncio.run(run("monday", "I like tea."))
        self.learn(user, "monday")
        asyncio.run(run("tuesday", "What do I like?"))
        return {"prompt": model.prompts[-1]}

    def streamed(self, user: str) -> Any:
        agent, _ = self.agent(["Noted.", "I see."])
        config = {"configurable": {"thread_id": "t"}}

        async def stream(text: str) -> None:
            async for _ in agent.astream({"messages": [("user", text)]}, config, context={"user_id": user}):
                pass

        for _ in agent.stream({"messages": [("user", "I like tea.")]}, config, context={"user_id": user}):
            pass
        asyncio.run(stream("I like bees."))
        return {}

    def no_checkpointer(self, user: str) -> Any:
        agent, model = self.agent(["Noted.", "I see.", "Fine."], is_kept=False, prompt=None, stream_id="all")
        history: list[Any] = []
        for text in ("I like tea.", "I like bees.", "I like bread."):
            history.append({"role": "user", "content": text})
            state = agent.invoke({"messages": list(history)}, context={"user_id": user})
            history.append({"role": "assistant", "content": state["messages"][-1].text})
        return {"prompts": model.prompts}

    def away(self, user: str) -> Any:
        agent, model = self.agent(["One.", "Two.", "Three."])
        self.switch.is_off = True
        answers = [self.invoke(agent, user, "t", ("user", text))["messages"][-1].text for text in ("First.", "Second.")]
        self.switch.is_off = False
        answers.append(self.invoke(agent, user, "t", ("user", "Third."))["messages"][-1].text)
        return {"answers": answers, "first": model.prompts[0]}

    def failed(self, user: str) -> Any:
        agent, _ = self.agent([RuntimeError("the model is away"), "Noted."])
        try:
            self.invoke(agent, user, "t", ("user", "I like tea."))
        except RuntimeError as error:
            problem = str(error)
        state = self.invoke(agent, user, "t", ("user", "I like bees."))
        return {"problem": problem, "answer": state["messages"][-1].text}

    def not_the_user(self, user: str) -> Any:
        agent, _ = self.agent(["Noted."])
        summary = HumanMessage("Here is a summary.", additional_kwargs={"lc_source": "summarization"})
        self.invoke(agent, user, "t", summary, ("user", "I like tea."))
        return {}

    def wrong_scope(self, user: str) -> Any:
        agent, model = self.agent(["Noted."], scope=lambda _: {"user_id": "*"})
        state = self.invoke(agent, user, "t", ("user", "I like tea."))
        return {"answer": state["messages"][-1].text, "prompt": model.prompts[0]}


def main() -> None:
    cases = Cases(sys.argv[1])
    for line in sys.stdin:
        name = json.loads(line)
        try:
            user = f"langchain-{name}-{uuid4()}"
            answer = {**getattr(cases, name)(user), "user": user}
        except Exception:
            answer = {"error": traceback.format_exc()}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
