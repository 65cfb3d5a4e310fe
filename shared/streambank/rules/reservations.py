"""How many tokens a model call may cost at most: as many are reserved before it."""

from __future__ import annotations

from streambank.rules.tokens import estimate_tokens

# The instructions and the tool beside a request: at most 7,000 characters of text that is the same for every call.
_STANDING_TOKENS = 4_500


def most_tokens(request: object, output_tokens: int) -> int:
    """Return the most that a call of a model with *request* costs; an answer has at most *output_tokens*.

    After an answer that cannot be used, the model is sent the request and that answer once more. The texts of the last
    answer are embedded.
    """
    prompt = _STANDING_TOKENS + estimate_tokens(repr(request))
    sent = prompt + (prompt + output_tokens)
    answered = output_tokens + output_tokens
    embedded = output_tokens
    return sent + answered + embedded
