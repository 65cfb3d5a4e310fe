"""The whole service with the adapters of OpenAI's API, whose server answers by the embedded rules."""

from collections.abc import Iterator
from contextlib import contextmanager

from streambank_local.service import LocalService
from tests.bedrock.thinking import meaning, thinking
from tests.openai.chat_server import OpenAi, running


@contextmanager
def openai_service(server: OpenAi | None = None, **parameters: str) -> Iterator[LocalService]:
    """Run local mode with the models of *server*, by default one that reads its prompts as a model would."""
    with running(server or OpenAi(thinking, meaning)) as running_server:
        chosen = {
            "Model": "openai",
            "OpenAiBaseUrl": f"{running_server.url}/v1",
            "OpenAiModelId": "scripted",
            "OpenAiEmbeddingModelId": "scripted-embedding",
        }
        with LocalService(parameters={**chosen, **parameters}, timer_enabled=False) as service:
            yield service
