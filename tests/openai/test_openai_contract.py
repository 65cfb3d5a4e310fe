"""The suite that every adapter passes: what is read in an answer, over the wire format of OpenAI."""

from tests.bedrock.test_bedrock_answers import *  # noqa: F403
from tests.bedrock.test_bedrock_decisions import *  # noqa: F403
