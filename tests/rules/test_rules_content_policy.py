"""Content policies: what the detectors find, and what is left of a text."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from streambank.errors import Unavailable
from streambank.model.content_policy import ContentPolicy, Detector, Finding, PolicyAction, PolicyRule
from streambank.rules.content_policy.card_numbers import card_number_spans
from streambank.rules.content_policy.credentials import credential_spans
from streambank.rules.content_policy.screen import Screen, texts_of, texts_of_parts
from streambank.rules.content_policy.spans import Cut, Span, merged, without_cuts

REDACT, REFUSE, TAG = PolicyAction
CARDS = PolicyRule("CARD_NUMBERS", REDACT, Detector.CARD_NUMBERS)
CREDENTIALS = PolicyRule("CREDENTIALS", REDACT, Detector.CREDENTIALS)
EMPLOYEES = PolicyRule("EMPLOYEE", REDACT, pattern=r"\bE-\d+\b")
POLICY = ContentPolicy((CARDS, CREDENTIALS, EMPLOYEES))
# Published test numbers of the schemes (docs.stripe.com: testing; developer.paypal.com: card testing).
NUMBERS = (
    "4242424242424242",
    "4000056655665556",
    "5555555555554444",
    "2223003122003222",
    "5105105105105100",
    "378282246310005",
    "6011111111111117",
    "3056930009020004",
    "36227206271667",
    "3566002020360505",
    "6200000000000005",
    "6205500000000000004",
)
# Examples in the form that each issuer publishes; none was ever a key.
KEYS = (
    "AKIA" + "IOSFODNN7EXAMPLE",
    "ASIA" + "IOSFODNN7EXAMPLE",
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "11ABCDEFG0" * 4,
    "glpat-" + "a1B2c3D4e5F6g7H8i9J0",
    "xoxb-" + "1234567890-abcdefghij",
    "https://hooks.slack.com/services/" + "T0000/B0000/abcdefghijklmnop",
    "sk_live_" + "a1B2c3D4e5F6g7H8",
    "whsec_" + "a1B2c3D4" * 4,
    "AIza" + "a1B2c3D" * 5,
    "sk-proj-" + "a1B2c3D4" * 4,
    "sk-ant-api03-" + "a1B2c3D4" * 4,
    "hf_" + "a1B2c3D4" * 4,
    "npm_" + "a1B2" * 9,
    "SG." + "a1B2c3D4" * 2 + "." + "a1B2c3D4" * 2,
    "1234567890:AA" + "a1B2c3D4e5F" * 3,
    "sb_" + "a2b3c4d5e6f7g2h3" + "_" + "a1B2c3D4e5F" * 3 + "a1B2c3D4e5",
    "eyJ" + "hbGciOiJI" + ".eyJ" + "zdWIiOiIxMjM" + ".dozjgNryP4J3",
)


def screened(text: str, policy: ContentPolicy = POLICY, room: int = 10_000) -> str:
    return Screen(policy).text(text, room=room)


def luhn(digits: str) -> str:
    """Return *digits* with their check digit, computed digit by digit."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        number = int(digit) * (2 if place % 2 == 0 else 1)
        total += number - 9 if number > 9 else number
    return digits + str(-total % 10)


# ---- card numbers


@pytest.mark.parametrize("number", NUMBERS)
def test_the_numbers_of_every_scheme_are_found(number: str) -> None:
    """Test numbers of each scheme, whole, in fours, and in words of other text."""
    fours = " ".join(number[start : start + 4] for start in range(0, len(number), 4))
    for text in (number, fours, fours.replace(" ", "-"), f"no {number}, please", f"12 {fours} 99"):
        assert number not in screened(text).replace(" ", "").replace("-", "")
        assert "[REDACTED:CARD_NUMBERS]" in screened(text)


NUMBER = some.integers(12, 18).flatmap(
    lambda length: some.tuples(
        some.sampled_from("23456"), some.text("0123456789", min_size=length - 1, max_size=length - 1)
    )
)
SEPARATORS = some.sampled_from(["", "", " ", "-", "  ", "\n", " - ", "\u2013", "\u00a0", "\u2212"])


@given(
    NUMBER,
    some.randoms(use_true_random=False),
    some.lists(SEPARATORS, min_size=19, max_size=19),
    some.text(max_size=20),
)
def test_no_number_with_a_right_check_digit_passes(
    parts: tuple[str, str], chance: random.Random, separators: list[str], beside: str
) -> None:
    """In any spelling with spaces or dashes, beside any text that is no digit."""
    number = luhn("".join(parts))
    if len(set(number)) == 1:
        return
    spelled = "".join(digit + separator for digit, separator in zip(number, separators, strict=False))
    around = "".join(char for char in beside if not char.isdecimal())
    spans = list(card_number_spans(f"{around}|{spelled}|{around}"))
    covered = {place for span in spans for place in range(*span)}
    start = len(around) + 1
    digits = [start + at for at, char in enumerate(spelled) if char.isdecimal()]
    assert set(digits) <= covered
    assert not list(card_number_spans(screened(f"{around}|{spelled}|{around}")))


def test_other_numbers_stay() -> None:
    """Short numbers, wrong check digits, equal digits, phone numbers and times are no card numbers."""
    for text in (
        "4242424242424241",
        "123456789012",
        "0000000000000000",
        "4444444444444444",
        "call +43 1 534 15 0",
        "at 1767225600000",
        "9999 9999 9999 9995",
        "order 4242424242424242424242",
    ):
        assert screened(text) == text


# ---- credentials


@pytest.mark.parametrize("key", KEYS)
def test_the_keys_of_every_issuer_are_found(key: str) -> None:
    """Each published form, alone, in a sentence, and in JSON."""
    for text in (key, f"use {key}, please", f'{{"key": "{key}"}}'):
        assert key not in screened(text)
        assert "[REDACTED:CREDENTIALS]" in screened(text)


def test_secrets_that_say_what_they_are_are_found() -> None:
    """Passwords in URLs, headers, assignments and private keys; what is around them stays."""
    marker = "[REDACTED:CREDENTIALS]"
    for text, left in (
        ("postgres://me:hunter2@db.example.org/x", f"postgres://me:{marker}@db.example.org/x"),
        ("https://me:p@ss:w0rd@example.org", f"https://me:{marker}@example.org"),
        ("Authorization: Bearer abcdefgh12345678", f"Authorization: Bearer {marker}"),
        ("PASSWORD=hunter22 next", f"PASSWORD={marker} next"),
        ('"api_key": "abcdef123456"', f'"api_key": "{marker}"'),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nafter", f"{marker}\nafter"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE", marker),
    ):
        assert screened(text) == left


def test_ordinary_text_stays() -> None:
    """Words that only look like a beginning of a secret are kept."""
    for text in (
        "I forgot my password yesterday.",
        "ask-me-anything-about-the-long-history-of-tea",
        "https://example.org:8080/path",
        "The bearer of good news came at 10:30.",
        "mail me at me@example.org",
    ):
        assert not list(credential_spans(text)), text
        assert screened(text) == text


# ---- what is left


WORDS = some.sampled_from(
    [
        "tea",
        " ",
        "E-42",
        "4242 4242 4242 4242",
        "4242",
        KEYS[0],
        "https://a:b@c",
        "[REDACTED:EMPLOYEE]",
        "]",
        "E-",
        "\u00e9",
    ]
)
TEXTS = some.lists(WORDS, max_size=8).map("".join)


@given(TEXTS)
def test_screening_twice_is_screening_once(text: str) -> None:
    """What a policy has left it leaves again, and finds nothing more in it."""
    once = screened(text)
    again = Screen(POLICY)
    assert again.text(once, room=10_000) == once
    assert again.take_findings() == ()


@given(TEXTS, some.integers(0, 40))
def test_a_text_grows_within_its_room(text: str, room: int) -> None:
    """Markers that would need more room become short ones, and what the rules match is gone all the same."""
    left = screened(text, room=room)
    assert len(left.encode()) <= len(text.encode()) + room
    assert not list(card_number_spans(left))
    assert KEYS[0] not in left


@given(some.lists(TEXTS, max_size=5))
def test_pieces_are_one_text(pieces: list[str]) -> None:
    """What is left of the pieces of a text is what is left of the text, and none is added or lost."""
    left = Screen(POLICY).pieces(pieces, room=10_000)
    assert len(left) == len(pieces)
    assert "".join(left) == screened("".join(pieces))


CUTS = some.lists(some.tuples(some.integers(0, 20), some.integers(1, 8)).map(lambda one: Cut(one[0], sum(one), "*")))


@given(some.lists(some.text("abc", max_size=8), max_size=6), CUTS)
def test_cuts_remove_what_they_cover_and_nothing_else(texts: list[str], cuts: list[Cut]) -> None:
    """Each character outside of all cuts stays in its piece, and each that is inside goes."""
    whole = "".join(texts)
    inside = [cut for cut in cuts if cut.end <= len(whole)]
    left = without_cuts(texts, merged(inside))
    start = 0
    for text, piece in zip(texts, left, strict=True):
        kept = [char for at, char in enumerate(text, start) if not any(cut.start <= at < cut.end for cut in inside)]
        assert piece.replace("*", "") == "".join(kept)
        start += len(text)


def test_the_first_rule_names_what_several_match() -> None:
    """Where matches overlap there is one marker, and each rule counts its own."""
    policy = ContentPolicy((PolicyRule("FIRST", REDACT, pattern="b+c"), PolicyRule("SECOND", REDACT, pattern="ab+")))
    screen = Screen(policy)
    assert screen.text("xabbcx", room=100) == "x[REDACTED:FIRST]x"
    assert screen.take_findings() == (Finding("FIRST", REDACT, 1), Finding("SECOND", REDACT, 1))
    assert screen.take_findings() == ()


def test_a_marker_that_somebody_writes_hides_nothing() -> None:
    """A text that holds a marker, or a half of one, is screened around it and through it."""
    for text in (
        f"https://me:[REDACTED:EMPLOYEE]{'x' * 5}@example.org",
        f"[REDACTED:{KEYS[0]}]",
        f"[REDACTED:EMPLOYEE]{NUMBERS[0]}",
        f"{NUMBERS[0]}[REDACTED:CARD_NUMBERS]",
    ):
        left = screened(text)
        assert not [secret for secret in ("xxxxx", KEYS[0], NUMBERS[0]) if secret in left], left


def test_a_tag_changes_nothing_and_counts_once() -> None:
    """TAG counts in the text as it is, REFUSE redacts and counts: the caller decides what to do."""
    policy = ContentPolicy((PolicyRule("T", TAG, pattern="tea"), PolicyRule("R", REFUSE, pattern="bee")))
    screen = Screen(policy)
    assert screen.text("tea bee tea", room=100) == "tea [REDACTED:R] tea"
    assert screen.take_findings() == (Finding("T", TAG, 2), Finding("R", REFUSE, 1))


def test_values_keep_their_shape() -> None:
    """Names, numbers and texts at any depth are screened; what is none of them stays as it is."""
    value: Any = {"a": [NUMBERS[0], int(NUMBERS[0]), 4.5, None, True, {NUMBERS[0]: "x", f"{NUMBERS[0]} ": "y"}]}
    assert Screen(POLICY).value(value, room=1_000) == {
        "a": [
            "[REDACTED:CARD_NUMBERS]",
            "[REDACTED:CARD_NUMBERS]",
            4.5,
            None,
            True,
            {"[REDACTED:CARD_NUMBERS]": "x", "[REDACTED:CARD_NUMBERS] ": "y"},
        ]
    }
    twins = {NUMBERS[0]: 1, NUMBERS[1]: 2}
    assert sorted(Screen(POLICY).value(twins, room=1_000).values()) == [1, 2], "no value is lost"


def test_a_value_grows_within_its_room() -> None:
    """Many short matches together do not make a value larger than its room."""
    policy = ContentPolicy((PolicyRule("A", REDACT, pattern="a"),))
    value = ["a"] * 1_000
    assert Screen(policy).value(value, room=100) == ["*"] * 1_000


# ---- the service for personal data


def test_the_service_is_asked_once_about_all_texts() -> None:
    """Texts that are read ahead are one request, and what it finds is replaced and counted."""
    asked: list[list[str]] = []

    def ask(texts: Any) -> list[list[Span]]:
        asked.append(list(texts))
        return [[Span(at, at + 3)] if (at := text.find("Ann")) >= 0 else [] for text in texts]

    screen = Screen(ContentPolicy((PolicyRule("PEOPLE", REDACT, Detector.PERSONAL_DATA),)), ask)
    parts = [{"text": "I am A"}, {"text": "nn"}, {"call": {"name": "Ann"}}]
    screen.read_ahead([*texts_of_parts(parts), *texts_of({"x": ["tea"]})])
    assert asked == [["I am Ann", "call", "name", "Ann", "x", "tea"]]
    assert screen.parts(parts, room=100) == (
        {"text": "I am [REDACTED:PEOPLE]"},
        {"text": ""},
        {"call": {"name": "[REDACTED:PEOPLE]"}},
    )
    assert len(asked) == 1
    assert screen.take_findings() == (Finding("PEOPLE", REDACT, 2),)


def test_without_the_service_nothing_passes() -> None:
    """A policy that needs it fails closed."""
    policy = ContentPolicy((PolicyRule("PEOPLE", REDACT, Detector.PERSONAL_DATA),))
    with pytest.raises(Unavailable):
        Screen(policy).text("I am Ann")
