"""Content policies in a bank's configuration, and what they found in events."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator
from typing_extensions import TypedDict

from streambank.model import content_policy as model
from streambank.model.content_policy import PolicyAction
from streambank.rules.filtering import regex
from streambank.wire.fields import text
from streambank.wire.model import JsonSchema, RequestModel, rule

MAX_RULES = 50
MAX_PATTERN_BYTES = 1_024
# Each ingest reads the rules with its bank.
MAX_RULES_BYTES = 8_000
# All patterns together: each character of a text costs up to one step for each instruction.
MAX_INSTRUCTIONS = 4_000
# Few digits: a marker must not look like the number of a card.
NAME_PATTERN = "^[A-Z][A-Z_]{0,35}[0-9]{0,3}$"


class ContentPolicyRule(RequestModel):
    """A detector or a pattern of RE2, and what is done where it matches; its name is part of what is left there."""

    name: Annotated[str, Field(pattern=NAME_PATTERN)] | None = None
    detector: Literal["CREDENTIALS", "CARD_NUMBERS", "PERSONAL_DATA"] | None = None
    pattern: Annotated[str, text(MAX_PATTERN_BYTES, least_bytes=1, examples=[r"\bE-\d{4}\b"])] | None = None
    action: Literal["REDACT", "REFUSE", "TAG"]

    @model_validator(mode="after")
    def _check_matcher(self) -> Self:
        if (self.detector is None) == (self.pattern is None):
            raise rule("must have either detector or pattern")
        self.instructions()
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> JsonSchema:
        described: JsonSchema = super().__get_pydantic_json_schema__(schema, handler)
        handler.resolve_ref_schema(described)["oneOf"] = [{"required": ["detector"]}, {"required": ["pattern"]}]
        return described

    def instructions(self) -> int:
        """Return how many instructions the pattern has."""
        try:
            return regex.instructions(self.pattern) if self.pattern else 0
        except ValueError as error:
            raise rule(str(error), "pattern") from None


class ContentPolicy(RequestModel):
    """What texts must not hold; the rules apply before anything is stored."""

    rules: Annotated[list[ContentPolicyRule], Field(max_length=MAX_RULES)] = []

    @model_validator(mode="after")
    def _check_size(self) -> Self:
        size = len(self.model_dump_json(exclude_none=True).encode())
        if size > MAX_RULES_BYTES:
            raise rule(f"have {size} bytes of JSON; the limit is {MAX_RULES_BYTES}", "rules")
        instructions = sum(one.instructions() for one in self.rules)
        if instructions > MAX_INSTRUCTIONS:
            raise rule(f"have patterns of {instructions} instructions; the limit is {MAX_INSTRUCTIONS}", "rules")
        return self


class PolicyFinding(TypedDict):
    """How often a rule of the bank's content policy matched, never what it matched."""

    rule: str
    action: PolicyAction
    count: int


def findings(policy_findings: Iterable[model.Finding]) -> list[PolicyFinding] | None:
    """Return what was found in an event, or None for nothing."""
    return [PolicyFinding(rule=one.rule, action=one.action, count=one.count) for one in policy_findings] or None
