"""Amazon Comprehend and guardrails of Amazon Bedrock as detectors of personal data.

They fail closed: where the service does not answer, nothing is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from streambank.errors import Unavailable
from streambank.llm.personal_data.documents import Document, documents
from streambank.rules.content_policy.spans import Count, Span

# DetectPiiEntities takes 100 KB; ApplyGuardrail takes 25 text units of a thousand characters.
_COMPREHEND_BYTES = 90_000
_GUARDRAIL_BYTES = 20_000
# Times and addresses of pages are nobody's data by themselves, and memories are made of times.
_OTHER_TYPES = frozenset({"DATE_TIME", "URL"})
# Below this Comprehend is not sure; its own console hides less.
_LEAST_SCORE = 0.5
_RETRY_AFTER_SECONDS = 5
# Comprehend bills the characters of a request in such units (https://aws.amazon.com/comprehend/pricing/).
_UNIT_CHARACTERS = 100
_LEAST_UNITS = 3
# The policies of a guardrail that are billed by their units; filters of words and patterns are free
# (https://aws.amazon.com/bedrock/pricing/).
_BILLED_POLICIES = ("contentPolicyUnits", "topicPolicyUnits", "sensitiveInformationPolicyUnits")

Located = Iterator[tuple[int, Span]]
Locate = Callable[[Document, Count], Located]


@dataclass(frozen=True)
class Comprehend:
    """Amazon Comprehend's DetectPiiEntities; *build* makes its client when a policy first needs it."""

    build: Callable[[], Any]
    language: str = "en"

    def spans(self, texts: Sequence[str], count: Count) -> list[list[Span]]:
        """Return the personal data in each of *texts*; *count* gets the units of each request. Raises Unavailable."""
        return _spans(texts, _COMPREHEND_BYTES, self._located, count)

    def _located(self, document: Document, count: Count) -> Located:
        reply = _sent(lambda: self._client.detect_pii_entities(Text=document.text, LanguageCode=self.language))
        count(max(_LEAST_UNITS, ceil(len(document.text) / _UNIT_CHARACTERS)))
        for entity in reply["Entities"]:
            if entity["Type"] not in _OTHER_TYPES and entity["Score"] >= _LEAST_SCORE:
                yield from document.located(entity["BeginOffset"], entity["EndOffset"])

    @cached_property
    def _client(self) -> Any:
        return self.build()


@dataclass(frozen=True)
class Guardrail:
    """A guardrail of Amazon Bedrock with a policy for sensitive information, which decides what personal data is."""

    build: Callable[[], Any]
    guardrail: str
    version: str

    def spans(self, texts: Sequence[str], count: Count) -> list[list[Span]]:
        """Return the personal data in each of *texts*; *count* gets the units of each request. Raises Unavailable."""
        return _spans(texts, _GUARDRAIL_BYTES, self._located, count)

    def _located(self, document: Document, count: Count) -> Located:
        reply = _sent(
            lambda: self._client.apply_guardrail(
                guardrailIdentifier=self.guardrail,
                guardrailVersion=self.version,
                source="INPUT",
                content=[{"text": {"text": document.text}}],
                outputScope="FULL",
            )
        )
        count(sum(reply["usage"].get(name, 0) for name in _BILLED_POLICIES))
        for match in sorted(_matches(reply)):
            for start in _occurrences(document.text, match):
                yield from document.located(start, start + len(match))

    @cached_property
    def _client(self) -> Any:
        return self.build()


def _spans(texts: Sequence[str], most_bytes: int, locate: Locate, count: Count) -> list[list[Span]]:
    spans: list[list[Span]] = [[] for _ in texts]
    for document in documents(texts, most_bytes=most_bytes):
        for number, span in locate(document, count):
            spans[number].append(span)
    return [sorted(set(of_text)) for of_text in spans]


def _matches(reply: Any) -> set[str]:
    """Return the texts that a guardrail's policy for sensitive information matched."""
    policies = [one.get("sensitiveInformationPolicy", {}) for one in reply.get("assessments", [])]
    rows = [row for policy in policies for kind in ("piiEntities", "regexes") for row in policy.get(kind, [])]
    return {row["match"] for row in rows if row.get("match")}


def _occurrences(text: str, match: str) -> Iterator[int]:
    start = text.find(match)
    while start >= 0:
        yield start
        start = text.find(match, start + len(match))


def _sent(request: Callable[[], Any]) -> Any:
    """Return the reply to *request*. Raises Unavailable: the client has repeated what may be repeated."""
    try:
        return request()
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
    except BotoCoreError as error:
        code = type(error).__name__
    raise Unavailable(f"the service for personal data did not answer ({code}); try again", _RETRY_AFTER_SECONDS)
