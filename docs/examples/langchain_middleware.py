"""An agent of LangChain with long-term memory by middleware; a model of its own takes the place of a real one.

python docs/examples/langchain_middleware.py
"""

from __future__ import annotations

import os
import sys
from typing import Any
from uuid import uuid4

from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from streambank_client import Streambank
from streambank_client.agent_memory import AgentMemory
from streambank_client.errors import StreambankError
from streambank_client.langchain import StreambankMiddleware


class RecitingModel(BaseChatModel):
    """Answers as a model would that does nothing but read out what it remembers."""

    @property
    def _llm_type(self) -> str:
        return "reciting"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        del stop, run_manager, kwargs
        known = [line.removeprefix("- ") for line in messages[0].text.splitlines() if line.startswith("- ")]
        answer = f"I remember: {' '.join(known)}" if known else "Noted."
        return ChatResult(generations=[ChatGeneration(message=AIMessage(answer))])


def main() -> None:
    url = os.environ.get("STREAMBANK_URL", "http://127.0.0.1:8080")
    user = f"langchain-{uuid4()}"
    with Streambank(url, token=os.environ.get("STREAMBANK_TOKEN", "local")) as client:
        # Memory survives a service that is away, so that this program would not notice it until its end.
        client.bank().get()
        memory = AgentMemory(
            client.bank(),
            scope=lambda runtime: {"user_id": runtime.context["user_id"]},
            generation_rule={"event_count": 20, "idle_duration": "300s"},
        )
        agent = create_agent(
            RecitingModel(),
            system_prompt="You are a helpful assistant.",
            middleware=[StreambankMiddleware(memory)],
            context_schema=dict,
        )
        for line in ("I live in Graz.", "Where do I live?"):
            # The second run has nothing of the first one but its memory.
            state = agent.invoke({"messages": [{"role": "user", "content": line}]}, context={"user_id": user})
            print(f"{line} -> {state['messages'][-1].text}")


if __name__ == "__main__":
    try:
        main()
    except StreambankError as error:
        sys.exit(f"Streambank: {error} (`make run` starts it on this machine; STREAMBANK_URL names another service)")
