"""Standing instructions for the assistant, and prompt injections."""

from __future__ import annotations

import re

_STANDING = re.compile(
    r"^(?:please |pls |kindly )*(?:"
    r"(?:always|never|don't ever|do not ever|from now on,?|going forward,?|in (?:the )?future,?|whenever (?:i"
    r"|you) [\w ]{1,40},)"
    r"(?: please| always| never| you should| you must)? (?:reply|respond|answer|use|call|write|speak|talk|address"
    r"|include|give me|show|ask|remind"
    r"|explain|format|send|suggest|recommend|mention|assume|book|order|check|tell|add"
    r"|keep (?:your|the|all|it)|convert|translate|cite|refer)\b"
    r"|(?:you (?:can|may|should) )?call me (?!back|later|when|if|at|on|tomorrow|crazy|old)\w+"
    r"|address me as|refer to me as"
    r"|(?:don't|do not) (?:call me|address me|use|suggest|recommend|mention|ask me)\b"
    r"|(?:reply|respond|answer|speak|talk|write)(?: to me)? (?:only |always )?in \w+"
    r"|use (?:metric|imperial|formal|informal|short|simple|british|american|the metric|24)\b"
    r"|keep (?:your |the |all )?(?:answers|replies|responses|messages)\b"
    r"|(?:reply|respond|answer|write)\b.{0,60}\b(?:from now on|in (?:the )?future|every time|at all times)$)",
    re.IGNORECASE,
)
_PLANTED = re.compile(
    r"\b(?:ignore|disregard|override|bypass|forget) (?:all |any |your |the |these |those |every )*(?:previous "
    r"|prior |above |earlier |existing |system )*(?:rules?|instructions?|prompts?|guidelines)\b"
    r"|\boutput (?:a )?(?:delete|update|create)\b|\b(?:every|all) memor(?:y|ies)\b|\bsystem prompt\b|</?(?:system"
    r"|events?|instructions?|turns?|facts?|memory)\b"
    r"|^[ \t]*(?:system|assistant)\s*:|\b(?:you are|act as) (?:now )?(?:a|an|in) (?:different|new|unrestricted"
    r"|developer|admin)|\bjailbreak\b",
    re.IGNORECASE | re.MULTILINE,
)


def is_standing_instruction(sentence: str) -> bool:
    """Tell whether *sentence* says how the assistant should behave from now on."""
    return _STANDING.match(sentence) is not None


def is_planted(text: str) -> bool:
    """Tell whether *text* looks like a prompt injection; then nothing in it counts as a request."""
    return _PLANTED.search(text) is not None
