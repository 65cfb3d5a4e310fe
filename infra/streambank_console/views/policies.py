"""What a bank's configuration keeps out of it, and which changes it lets wait for a review."""

from __future__ import annotations

from dataclasses import dataclass

from streambank_client.types import BankResource
from streambank_client.types.banks import MemoryBankConfig, ReviewPolicyConfig
from streambank_client.types.policies import ContentPolicyRule
from streambank_console.views import labels, text
from streambank_console.views.labels import Badge
from streambank_console.views.memories import topic_name

NO_REVIEWS = "Only changes of pinned memories wait for a review."


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule of the content policy: what it looks for, in words or as the *pattern*, and what it does."""

    name: str
    detector: str
    pattern: str
    action: Badge


@dataclass(frozen=True, slots=True)
class PoliciesView:
    """The rules of the content policy, and what waits for a review in words."""

    rules: tuple[RuleRow, ...]
    reviews: str


def policies_view(bank: BankResource) -> PoliciesView:
    """Return the policies of a bank."""
    config = (bank.context_spec and bank.context_spec.memory_bank_config) or MemoryBankConfig()
    rules = config.content_policy.rules if config.content_policy else []
    return PoliciesView(tuple(_rule_row(*one) for one in enumerate(rules)), _reviews(config.review_policy))


def _rule_row(place: int, rule: ContentPolicyRule) -> RuleRow:
    return RuleRow(
        name=text.visible(rule.name or rule.detector or f"PATTERN_{place}"),
        detector=labels.detector(rule.detector) if rule.detector else "",
        pattern=text.visible(rule.pattern or ""),
        action=labels.policy_action(rule.action),
    )


def _reviews(policy: ReviewPolicyConfig | None) -> str:
    if policy is None or not policy.actions:
        return NO_REVIEWS
    kinds = ", ".join(text.words_of(action) for action in policy.actions)
    topics = ", ".join(topic_name(topic) for topic in policy.topics)
    which = f"generated changes of the topics {topics}" if topics else "all generated changes"
    return f"These wait for a review: {which}, if memories are {kinds}. So do changes of pinned memories."
