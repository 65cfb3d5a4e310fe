"""Standing instructions for the assistant, and prompt injections."""

from __future__ import annotations

import re

_STANDING = re.compile(
    r"^(?:please |pls |kindly )*(?:(?:always|never|don't ever|do not ever|from now on,?|going forward,?"
    r"|in (?:the )?future,?|whenever (?:i|you) [\w ]{1,40},)(?: please| always| never| you should| you must)? (?:reply"
    r"|respond|answer|use|call|write|speak|talk|address|include|give me|show|ask|remind|explain|format|send|suggest"
    r"|recommend|mention|assume|book|order|check|tell|add|keep (?:your|the|all|it)|convert|translate|cite|refer)\b"
    r"|(?:you (?:can|may|should) )?call me (?!back|later|when|if|at|on|tomorrow|crazy|old)\w+|address me as"
    r"|refer to me as|(?:don't|do not) (?:call me|address me|use|suggest|recommend|mention|ask me)\b|(?:reply|respond"
    r"|answer|speak|talk|write)(?: to me)? (?:only |always )?in \w+|use (?:metric|imperial|formal|informal|short|simple"
    r"|british|american|the metric|24)\b|keep (?:your |the |all )?(?:answers|replies|responses|messages)\b"
    r"|(?:reply|respond|answer|write)\b.{0,60}\b(?:from now on|in (?:the )?future|every time|at all times)$)",
    re.IGNORECASE,
)
_PLANTED = re.compile(
    r"\b(?:ignore|disregard|override|bypass|forget) (?:all |any |your |the |these |those |every )*(?:previous |prior "
    r"|above |earlier |existing |system )*(?:rules?|instructions?|prompts?|guidelines)\b|\boutput (?:a )?(?:delete"
    r"|update|create)\b|\b(?:every|all) memor(?:y|ies)\b|\bsystem prompt\b|</?(?:system|events?|instructions?|turns?"
    r"|facts?|memory)\b|^[ \t]*(?:system|assistant)\s*:|\b(?:you are|act as) (?:now )?(?:a|an|in) (?:different|new"
    r"|unrestricted|developer|admin)|\bjailbreak\b",
    re.IGNORECASE | re.MULTILINE,
)


def is_standing_instruction(sentence: str) -> bool:
    """Tell whether *sentence* says how the assistant should behave from now on."""
    return _STANDING.match(sentence) is not None


def is_planted(text: str) -> bool:
    """Tell whether *text* looks like a prompt injection; then nothing in it counts as a request."""
    return _PLANTED.search(text) is not None
