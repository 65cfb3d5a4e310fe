"""An agent of pydantic-ai with long-term memory; a function takes the place of a model.

python docs/examples/pydantic_ai_agent.py
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from uuid import uuid4

from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from streambank_client import Streambank
from streambank_client.agent_memory import AgentMemory
from streambank_client.errors import StreambankError
from streambank_client.pydantic_ai import StreambankMemory


@dataclass(frozen=True)
class Deps:
    """What a run of the agent depends on."""

    user_id: str


def recite(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Answer as a model would that does nothing but read out what it remembers."""
    del info
    prompts = [part.content for part in messages[-1].parts if isinstance(part, UserPromptPart)]
    lines = [line for prompt in prompts if isinstance(prompt, str) for line in prompt.splitlines()]
    known = [line.removeprefix("- ") for line in lines if line.startswith("- ")]
    return ModelResponse(parts=[TextPart(f"I remember: {' '.join(known)}" if known else "Noted.")])


def main() -> None:
    url = os.environ.get("STREAMBANK_URL", "http://127.0.0.1:8080")
    deps = Deps(user_id=f"pydantic-ai-{uuid4()}")
    with Streambank(url, token=os.environ.get("STREAMBANK_TOKEN", "local")) as client:
        # Memory survives a service that is away, so that this program would not notice it until its end.
        client.bank().get()
        memory = AgentMemory(
            client.bank(),
            scope=lambda ctx: {"user_id": ctx.deps.user_id},
            generation_rule={"event_count": 20, "idle_duration": "300s"},
        )
        agent = Agent(FunctionModel(recite), deps_type=Deps, capabilities=[StreambankMemory(memory)])
        for line in ("I live in Graz.", "Where do I live?"):
            # The second run has nothing of the first one but its memory.
            print(f"{line} -> {agent.run_sync(line, deps=deps).output}")


if __name__ == "__main__":
    try:
        main()
    except StreambankError as error:
        sys.exit(f"Streambank: {error} (`make run` starts it on this machine; STREAMBANK_URL names another service)")
