"""Splits the text of a turn into sentences, and removes fillers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from streambank_local.basic.words import STRAIGHT_QUOTES, word_set

# A longer "sentence" is pasted text, not a statement of the user.
LONGEST_SENTENCE = 600

_FENCED = re.compile(r"```")
# The look-behind lets a run of marks match at its start only, which keeps long runs linear.
_BOUNDARY = re.compile(r"(?<![.!?…])[.!?…]++[\"')\]*_]*+(?=\s|$)|(?<=[。！？])|[\r\n]+")  # noqa: RUF001 -- full-width marks are meant
_ABBREVIATIONS = word_set("mr mrs ms dr st prof e.g i.e vs approx jr sr u.s u.k ph.d incl")
_CLOCK = frozenset({"a.m", "p.m"})
_BULLET = re.compile(r"^(?:[-*•–]|\d{1,2}[.)])\s+")  # noqa: RUF001 -- a dash may be a bullet
_OTHER_QUESTION_MARKS = ("？", "؟")  # noqa: RUF001 -- full-width and Arabic
# Lines of a list with what belongs to them, and the heading of a summary with the line after it.
_ITEM = r"^[ \t]*+(?:#{1,6}[ \t]|\*\*|[-*•–+][ \t]|\d{1,2}[.)][ \t]).*+\n?+(?:^[ \t]++\S.*+\n?+|^[ \t]*+\n)*+"  # noqa: RUF001
_HEADING = (
    r"^(?!.*\b(?:my|me|i)\b)(?=[ \t]*(?:#|\*\*|__)|.*:[ \t]*$)(?:[^\w\n]*+[\w'-]++){0,6}?[^\w\n]*+"
    r"(?:summary|recap|transcript|minutes|key points|takeaways)\b.{0,60}$\n*+(?:.+\n?+)?+"
)
_RUN = re.compile(rf"(?:{_HEADING})?+(?:{_ITEM})++|{_HEADING}|(?:^[ \t]*+>.*+\n?+)++", re.IGNORECASE | re.MULTILINE)
_PASTED = re.compile(
    rf"{_HEADING}|^[ \t]*>|^[^\w\n]*(?:\d+[^\w\n]+)?(?:(?:the )?(?:user|assistant)(?:'s)?|user profile):?[^\w\n]+\w",
    re.IGNORECASE | re.MULTILINE,
)


def remove_code(text: str) -> str:
    """Return *text* without the parts between code fences."""
    return "\n".join(_FENCED.split(text)[::2])


def split_pasted(text: str) -> tuple[str, list[str]]:
    """Return *text* without what is not its author's own words, and that: quotes, and summaries of a conversation."""
    pasted = [run[0] for run in _RUN.finditer(text) if _PASTED.search(run[0])]
    own_words = _RUN.sub(lambda run: "" if _PASTED.search(run[0]) else run[0], text)
    return own_words, [" ".join(run.split()) for run in pasted]


def split_sentences(text: str, *, longest: float = LONGEST_SENTENCE) -> list[str]:
    """Return the sentences of *text* with their final punctuation, up to *longest* characters each."""
    cleaned = (_BULLET.sub("", piece.strip()) for piece in _pieces(text))
    return [piece for piece in cleaned if piece and len(piece) <= longest]


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for mark in _BOUNDARY.finditer(text):
        if not _is_inside(text, start, mark):
            yield text[start : mark.end()]
            start = mark.end()
    yield text[start:]


def _is_inside(text: str, start: int, mark: re.Match[str]) -> bool:
    """Tell whether *mark* is inside a sentence: after an abbreviation, or before the rest of a wrapped line."""
    following = text[mark.end() : mark.end() + 2].lstrip()
    if mark[0].isspace():
        return following[:1].islower() and text[mark.end() : mark.end() + 2] != "i " and start != mark.start()
    if mark[0] != ".":
        return False
    word = text[max(start, mark.start() - 8) : mark.start()].rsplit(" ", maxsplit=1)[-1].lower().lstrip("(\"'")
    return word in _ABBREVIATIONS or (word in _CLOCK and following[:1].islower()) or _is_initial(word)


def _is_initial(word: str) -> bool:
    return len(word) == 1 and word.isalpha() and word != "i"


def is_question(sentence: str) -> bool:
    """Tell whether *sentence* is marked as a question."""
    tail = sentence.rstrip("\"')]*_ ")
    return "¿" in sentence or "?" in tail[-3:] or tail.endswith(_OTHER_QUESTION_MARKS)


_TAGGED = re.compile(r"^(?:i|i'm|i've|my|we|our)\b.*, (?:right|you know|remember|ok|okay)\?+$", re.IGNORECASE)


def is_tagged_statement(sentence: str) -> bool:
    """Tell whether *sentence* states something and only its tag asks: "I'm vegan, remember?"."""
    return _TAGGED.match(sentence.translate(STRAIGHT_QUOTES)) is not None


_ALWAYS = (
    r"well|oh|so|um+|uh+|er|hm+|ah|ha(?:ha)+|lol|wow|yeah|yes|yep|yup|sure|ok|okay|alright|right|anyways?|also|plus|btw"
    r"|by the way|fyi|just so you know|for the record|for future reference|actually|honestly|to be honest|tbh|like"
    r"|you know|i mean|look|listen|thanks(?: so much| a lot)?|thank you(?: so much)?|hi|hey|hello|no|nope|wait|sorry"
    r"|oops|hold on|in fact|as i said|like i said|as i (?:told you|mentioned)|again|then|absolutely|definitely|exactly"
    r"|totally|of course|aw+|yay|omg|ugh|fun fact|true|cool|nice|great|awesome|good question|hi there|hey there"
    r"|the thing is|no way|not really|for sure|correction|on second thought|come to think of it|no problem|no worries"
    r"|not a problem|therefore|on (?:the|a) bright(?:er)? side|speaking of which|good morning|good evening|careful"
    r"|attention|heads up|(?:big |good |bad |great |sad )?news|update|small update|quick (?:note|update)|reminder"
    r"|confession|guess what|side note|ps|finally|at last|unfortunately|fortunately|luckily|sadly|thankfully"
    r"|as you (?:may |might )?(?:know|remember)"
)
_LEADS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^(?:{_ALWAYS})(?: (?:man|dude|guys|again))?\s*[,:;!.…-]+\s+(?=\S)",
        (
            r"^(?:hi|hey|hello|thanks|thank you|yeah|yep|wow|oh|congrats|sure|yes|no|well"
            r"|ok) [A-Z][\w'-]*\s*[,!:-]+\s+(?=\S)"
        ),
        (
            rf"^(?:{_ALWAYS})\s+(?=(?:i|i'm|i've|i'd|im|my|we|we're|we've|our|and|but|by|please|wait|no|forget|remember|don't"
            rf"|actually)\b)"
        ),
        r"^(?:and|but)\s+(?=\S)",
        (
            r"^(?:i told you|i (?:also )?(?:just )?want(?:ed)? (?:to|you to) (?:say|tell you|mention|let you know|know"
            r"|share)|i should (?:also )?(?:mention|say|add|tell you)|you should (?:also )?know|i forgot to (?:mention"
            r"|say|tell you)|(?:it )?turns out|i (?:have to|must) (?:say|admit)|let me tell you|just to let you know"
            r"|let it be known)(?: that)?,?\s+(?=(?:i|i'm|i've|im|my|we|we're|our)\b)"
        ),
    )
)
_TAIL = re.compile(
    r"(?:\s*,\s*(?:though|you know|ha(?:ha)+|lol|btw|by the way|please|thanks|thank you|actually|right|remember|anyway"
    r"|ugh|argh|sigh|ok|okay|tbh|honestly|i guess|i think|fyi|man|dude|i (?:fear|suppose|reckon|believe|must (?:say"
    r"|admit)|have to (?:say|admit)|admit|promise|assume|imagine|dare say)|i'm afraid|i am afraid|i'd say|mind you"
    r"|you see|as (?:you (?:(?:may|might|already|probably|well|surely) )*(?:know|remember|can (?:see|tell|imagine))"
    r"|i (?:(?:have|already|just|once) )*(?:said|mentioned|told you(?: before| earlier)?)|it happens)|(?:like"
    r"|which) i (?:already )?(?:said|mentioned|told you(?: before)?)|if you (?:must|want to) know|if you remember"
    r"|in case you (?:wonder|were wondering|forgot)|for what it's worth|to be (?:fair|honest|precise|clear)"
    r"|believe it or not|finally|at last|unfortunately|fortunately|luckily|sadly"
    r"|thankfully|alas|of course|obviously|naturally|indeed|in fact)|\s+(?:ha(?:ha)+|lol|btw|tbh|xd|lmao))$",
    re.IGNORECASE,
)
_OPENING = {"]": "[", "}": "{", ">": "<"}
_KEPT = ')%"€£$+'
# More than a user writes in a row; the limit keeps hostile input linear.
_MOST_FILLERS = 6


def clean(sentence: str) -> str:
    """Return *sentence* without punctuation, emoji and fillers at its ends."""
    text = trim(sentence.translate(STRAIGHT_QUOTES))
    for _ in range(_MOST_FILLERS):
        shorter = trim(_TAIL.sub("", _without_lead(text)))
        if shorter == text or not shorter:
            break
        text = shorter
    return text[:1].upper() + text[1:]


def _without_lead(sentence: str) -> str:
    for lead in _LEADS:
        match = lead.match(sentence)
        if match is not None:
            return sentence[match.end() :]
    return sentence


def trim(sentence: str) -> str:
    """Return *sentence* with single spaces, and without punctuation and emoji at its ends."""
    text = " ".join(sentence.split())
    start, end = 0, len(text)
    while start < end and not (_is_letter(text[start]) or text[start] in '$€£+("[{'):
        start += 1
    while end > start and not (_is_letter(text[end - 1]) or text[end - 1] in _KEPT or _closes(text, start, end)):
        end -= 1
    return _strip_quotes(text[start:end])


def _closes(text: str, start: int, end: int) -> bool:
    """Tell whether *text* from *start* to *end* ends with the mark that closes a bracket of it."""
    return text[end - 1] in _OPENING and _OPENING[text[end - 1]] in text[start:end]


def _strip_quotes(text: str) -> str:
    whole = len(text) > 1 and text[0] == text[-1] == '"' and text.count('"') == 2
    odd = text.count('"') % 2 == 1
    return text.strip('"') if whole or odd else text


def _is_letter(letter: str) -> bool:
    return letter.isalnum() or (unicodedata.category(letter) in {"Mn", "Mc"} and letter != "\ufe0f")
