"""The code of docs/adk.md runs as it stands, with a scripted model in the place of Gemini."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from streambank_client import Streambank
from streambank_local.service import LocalService
from tests.docs.conftest import ROOT

PAGE = (ROOT / "docs" / "adk.md").read_text()
PYTHON = Path(os.environ.get("STREAMBANK_SDK_PYTHON") or ROOT / ".venv-sdk" / "bin" / "python")
LOCAL = "http://127.0.0.1:8080"
# The model repeats everything that it is given.
BEFORE = """
import asyncio
import json

from google.adk.models import BaseLlm, LlmResponse
from google.genai import types as genai


class Repeating(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        texts = [part.text for content in llm_request.contents for part in content.parts if part.text]
        yield LlmResponse(content=genai.Content(role="model", parts=[genai.Part(text=" ".join(texts))]))
"""
AFTER = """
async def main():
    answers = []
    for service in (memory, own_memory):
        user = f"docs-{type(service).__name__}"
        await ask(service, "I live in Graz.", user=user, session="monday")
        for _ in range(200):
            answer = await ask(service, "Where do I live?", user=user, session="tuesday")
            if service is own_memory or "PAST_CONVERSATIONS" in answer:
                break
            await asyncio.sleep(0.1)
        answers.append(answer)
    agent.after_agent_callback = end_call
    await ask(own_memory, "I like tea.", user="docs-phone", session="phone")
    await correct("docs-facts")
    return answers


print(json.dumps(asyncio.run(main())))
"""


@pytest.mark.skipif(not PYTHON.exists(), reason="no Python with Google's SDK: STREAMBANK_SDK_PYTHON, .venv-sdk")
def test_code_of_the_page_runs(service: LocalService) -> None:
    """An agent recalls an earlier session: of ADK's own service memories, of ours messages that wait for its rule."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    code = "\n".join(blocks).replace(LOCAL, service.base_url)
    model = 'model="gemini-2.5-flash"'
    assert model in code
    program = BEFORE + code.replace(model, 'model=Repeating(model="scripted")') + AFTER
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "client")}
    command = [str(PYTHON), "-W", "ignore", "-c", program]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert ran.returncode == 0, ran.stderr
    googles, ours = json.loads(ran.stdout.splitlines()[-1])
    assert "live in Graz" in googles.partition("<PAST_CONVERSATIONS>")[2]
    assert "live in Graz" in ours.partition("<PAST_CONVERSATIONS>")[2]
    service.wait_until_idle()
    assert [memory.fact for memory in memories(service, "docs-facts")] == ["Lives in Graz."]
    [phone] = memories(service, "docs-phone")
    assert (phone.fact, phone.metadata) == ("I like tea", {"channel": "phone"})
    assert memories(service, "docs-StreambankMemoryService") == []


def memories(service: LocalService, user: str) -> list[Any]:
    with Streambank(service.base_url, token="local") as client:
        results = client.bank().retrieve_memories(scope={"app_name": "app", "user_id": user})
    return [result.memory for result in results]
