"""Credentials: keys and tokens whose form their issuers publish, private keys, and passwords that say what they are.

Each pattern is in the subset of RE2, which takes linear time. The forms are from the issuers' own documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from streambank.rules.content_policy.spans import Span
from streambank.rules.filtering.regex import compiled

# The whole match is secret. A short beginning must begin a word, or it would be found within other words.
_WHOLE = (
    # docs.aws.amazon.com: IAM identifiers, unique identifiers
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
    # docs.github.com: about authentication to GitHub, GitHub's token formats
    r"gh[pousr]_[A-Za-z0-9]{36,}",
    r"github_pat_[A-Za-z0-9_]{22,}",
    # docs.gitlab.com: token overview, token prefixes
    r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat)-[A-Za-z0-9_.-]{20,}",
    # docs.slack.dev: token types; incoming webhooks
    r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}",
    r"xapp-[0-9]-[A-Za-z0-9-]{10,}",
    r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}",
    # docs.stripe.com: API keys; webhooks
    r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"whsec_[A-Za-z0-9+/=]{24,}",
    # cloud.google.com: API keys; OAuth 2.0 access tokens and client secrets
    r"AIza[A-Za-z0-9_-]{35}",
    r"ya29\.[A-Za-z0-9_-]{20,}",
    r"GOCSPX-[A-Za-z0-9_-]{20,}",
    # platform.openai.com and docs.anthropic.com: API keys
    r"\bsk-(?:proj-|svcacct-|admin-|ant-[a-z0-9]+-)?[A-Za-z0-9_-]{20,}",
    # huggingface.co, docs.npmjs.com, docs.pypi.org, docs.sendgrid.com, docs.digitalocean.com, shopify.dev: tokens
    r"\bhf_[A-Za-z0-9]{30,}",
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-[A-Za-z0-9_-]{50,}",
    r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    r"do[opr]_v1_[a-f0-9]{64}",
    r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    # core.telegram.org: bots, authorizing your bot
    r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}",
    # this service's own keys
    r"sb_[a-z2-7]{12,32}_[A-Za-z0-9_-]{43}",
    # RFC 7519: a signed JSON Web Token
    r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    # RFC 7468: a private key in PEM, to its end or to that of the text
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)",
)
_NAMES_OF_KEYS = "(?:access|auth|refresh)[_-]?token|client[_-]?secret|secret[_-]?(?:access[_-]?)?key"
_NAMES = f"passw(?:or)?d|passphrase|api[_-]?key|account[_-]?key|{_NAMES_OF_KEYS}"
# The group is secret; what is around it says so.
_INSIDE = (
    # RFC 3986: the password in the user information of a URL
    r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#@:\"'<>]*:([^\s/\"'<>]+)@",
    # RFC 9110: credentials in a header
    r"(?i:\bauthorization[\"']?\s*[:=]\s*[\"']?(?:basic|bearer|token)\s+)([A-Za-z0-9._~+/=-]{8,})",
    r"(?i:\bbearer\s+)([A-Za-z0-9._~+/=-]{20,})",
    # a name of a variable or of a field, and its value
    rf"(?i:\b[a-z0-9_.-]*(?:{_NAMES})[\"']?\s*[:=]\s*[\"']?)([^\s\"',;]{{6,}})",
)
# The programs are ours and fixed: their caches may be larger than those of callers' patterns.
_MAX_BYTES = 1 << 23


def credential_spans(text: str) -> Iterator[Span]:
    """Yield the credentials in *text*."""
    whole, inside = _programs()
    for match in whole(text):
        yield Span(*match.span())
    for match in inside(text):
        number = next(number for number in range(1, len(_INSIDE) + 1) if match.start(number) >= 0)
        yield Span(*match.span(number))


@cache
def _programs() -> tuple[Callable[[str], Iterator[Any]], Callable[[str], Iterator[Any]]]:
    whole, inside = (compiled("|".join(patterns), max_bytes=_MAX_BYTES) for patterns in (_WHOLE, _INSIDE))
    return whole.finditer, inside.finditer
