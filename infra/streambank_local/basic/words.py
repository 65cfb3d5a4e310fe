"""Tokens, expanded contractions, stems and synonyms, for comparing texts."""

from __future__ import annotations

from collections.abc import Iterator


def word_set(text: str) -> frozenset[str]:
    """Return the words of *text*."""
    return frozenset(text.split())


STRAIGHT_QUOTES = str.maketrans("’‘ʼ“”", "'''\"\"")  # noqa: RUF001 -- typographic quotes are meant
_SPACED = str.maketrans({"—": " , ", "/": " / ", "(": " , ", ")": " , ", '"': " "})
_EDGES = ".,;:!?'*_~`[]{}<>…#|&=+-"

_CONTRACTIONS = {
    "can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not", "let's": "let us",
    "im": "i am", "ive": "i have", "dont": "do not", "cant": "can not", "doesnt": "does not", "didnt": "did not",
    "isnt": "is not", "wasnt": "was not", "y'all": "you all", "gonna": "going to", "wanna": "want to",
    "e-mail": "email", "sugar-free": "no sugar", "sugarless": "no sugar", "unsweetened": "no sugar",
    "dairy-free": "no dairy", "black-coffee": "black coffee",
}  # fmt: skip
_ENDINGS = {"n't": "not", "'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}
_IS_AFTER = word_set("i he she it that this what who where there here how when everyone")
_SPELLINGS = {
    "favourite": "favorite", "fav": "favorite", "fave": "favorite", "colour": "color", "mum": "mother", "mom": "mother",
    "mommy": "mother", "dad": "father", "kid": "child", "kids": "children", "bike": "bicycle", "automobile": "car",
    "granny": "grandmother", "grandma": "grandmother", "grandpa": "grandfather", "flat": "apartment",
    "hubby": "husband", "gray": "grey", "cellphone": "phone", "telephone": "phone", "mobile": "phone",
    "puppy": "dog", "doggo": "dog", "kitty": "cat", "sweeties": "sweets",
}  # fmt: skip
_IRREGULAR = {
    "went": "go", "gone": "go", "bought": "buy", "sold": "sell", "had": "have", "has": "have", "got": "get",
    "gotten": "get", "took": "take", "taken": "take", "drank": "drink", "drunk": "drink", "drove": "drive",
    "driven": "drive", "ate": "eat", "eaten": "eat", "met": "meet", "made": "make", "kept": "keep", "taught": "teach",
    "wrote": "write", "written": "write", "ran": "run", "swam": "swim", "sang": "sing", "spoke": "speak",
    "spoken": "speak", "grew": "grow", "grown": "grow", "knew": "know", "left": "leave", "lost": "lose", "won": "win",
    "began": "begin", "begun": "begin", "came": "come", "gave": "give", "given": "give", "built": "build",
    "found": "find", "broke": "break", "broken": "break", "chose": "choose", "chosen": "choose", "wore": "wear",
    "slept": "sleep", "rode": "ride", "ridden": "ride", "paid": "pay", "said": "say", "told": "tell", "felt": "feel",
    "thought": "think", "children": "child", "wives": "wife", "people": "person", "men": "man", "women": "woman",
    "feet": "foot", "teeth": "tooth", "mice": "mouse", "does": "do", "did": "do", "done": "do", "was": "be",
    "is": "be", "am": "be", "are": "be", "were": "be", "been": "be", "being": "be", "this": "this", "his": "his",
    "news": "news", "bus": "bus", "gas": "gas", "yes": "yes", "glasses": "glasses", "spring": "spring",
    "evening": "evening", "morning": "morning", "nothing": "nothing", "anything": "anything", "during": "during",
    "bed": "bed", "red": "red", "need": "need", "feed": "feed", "seed": "seed", "king": "king", "ring": "ring",
    "sibling": "sibling", "wedding": "wedding", "ceiling": "ceiling", "tennis": "tennis", "jeans": "jeans",
    "allergy": "allergic", "allergies": "allergic",
}  # fmt: skip
_SYNONYMS = {
    "love": "like", "enjoy": "like", "adore": "like", "reside": "live", "own": "have", "purchase": "buy",
    "physician": "doctor", "begin": "start", "gym": "gym", "name": "call", "occupation": "job", "profession": "job",
    "automobile": "car", "movie": "film", "speak": "speak", "relocate": "move", "infant": "baby", "begun": "start",
}  # fmt: skip


def tokenize(text: str) -> list[str]:
    """Return the words of *text* in lower case, with contractions expanded and a comma at the end of a clause."""
    spaced = text.translate(STRAIGHT_QUOTES).translate(_SPACED)
    return _possessives([word for chunk in spaced.lower().split() for word in _words_of(chunk)])


def _words_of(chunk: str) -> Iterator[str]:
    if chunk.isalpha() and chunk not in _CONTRACTIONS:
        yield _SPELLINGS.get(chunk, chunk)
        return
    core = chunk.strip(_EDGES)
    if any(letter.isalnum() for letter in core):
        yield from _expanded(core)
    if chunk[-1] in ",;:":
        yield ","


def _expanded(core: str) -> list[str]:
    if core in _CONTRACTIONS:
        return _CONTRACTIONS[core].split()
    if "'" not in core:
        return [_SPELLINGS.get(core, core)]
    if core.endswith("'s"):
        owner = core[:-2]
        return [owner, "is" if owner in _IS_AFTER else "'s"]
    for ending, word in _ENDINGS.items():
        if core.endswith(ending) and len(core) > len(ending):
            return [core.removesuffix(ending), word]
    return [_SPELLINGS.get(core, core)]


# "my dog's called Fen": an 's before one of these is "is", not a possessive.
_AFTER_IS = word_set("called named a an not my in the from allergic vegan")


def _possessives(words: list[str]) -> list[str]:
    following = [*words[1:], ""][: len(words)]
    return ["is" if word == "'s" and after in _AFTER_IS else word for word, after in zip(words, following, strict=True)]


def stem(word: str) -> str:
    """Return the stem of *word*; synonyms have one stem."""
    known = _IRREGULAR.get(word)
    base = known if known is not None else _without_ending(word)
    return _SYNONYM_STEMS.get(_trim(base), _trim(base))


def _trim(base: str) -> str:
    return base[:-1] if len(base) > 3 and base.endswith("e") else base


def _without_ending(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    for ending in ("ing", "ed"):
        if len(word) > len(ending) + 2 and word.endswith(ending):
            return _undoubled(word.removesuffix(ending))
    return word


def _undoubled(base: str) -> str:
    doubled = len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz"
    return base[:-1] if doubled else base


_SYNONYM_STEMS = {
    _trim(_IRREGULAR.get(word, _without_ending(word))): _trim(synonym) for word, synonym in _SYNONYMS.items()
}

STOP_WORDS = word_set(
    """i me my mine myself we us our ours you your yours he him his she her hers it its they them their theirs this
    that these those a an the and or but if so as of at by for from in into on onto to up down out off over under
    with about than then too very quite some any all both each every be is am are was were been being do does did
    have has had will would shall should may might can could must 's there here who whom which what where when why
    how because while until since , / please again lot lots bit kind sort such own same yes ok one ones"""
)
NEGATORS = word_set("not no never without neither nor none nobody nothing stop quit hardly")
ADVERBS = word_set(
    """now currently actually really just recently still also absolutely totally definitely nowadays presently
    honestly certainly simply basically already truly deeply dearly finally probably usually generally anymore
    officially"""
)
