"""Tells whether a sentence is English; other sentences are kept unchanged, because no rule can parse them."""

from __future__ import annotations

import re

from streambank_local.basic.words import ADVERBS, NEGATORS, STOP_WORDS, tokenize, word_set

_COMMON = (
    STOP_WORDS
    | ADVERBS
    | NEGATORS
    | word_set(
        """like love hate want need know think go going get got make see look good great nice new old happy thanks thank
    hi hello hey please sorry wow cool awesome amazing well day today tomorrow yesterday night morning week month
    year time people thing things really much many more most less first last next way life work home family friend
    friends take took give tell let feel feeling sounds sound sure right wait yeah yep ok okay glad hope keep play
    always never often sometimes every everything something anything nothing someone let's dog cat house car city
    food tea coffee school job live lives drive book books music game games best better bad big little long hard
    easy fun beautiful congrats congratulations care talk soon later later bye goodbye luck welcome enjoy moved
    said called named back away together around through before after between should'nt favorite"""
    )
)
_FOREIGN = word_set(
    """soy eres es somos estoy está yo mi mis tu tus su el la los las un una unos de del y en que qué por para con
    sin muy pero como más no me gusta tengo vivo trabajo llamo hola gracias ich bin du ist sind wir mein meine
    meinen dein der die das den dem ein eine einen und oder nicht mit ohne für auf aus von zu im am habe hat wohne
    heiße heisse arbeite mag kein keine je suis tu es il elle nous vous mon ma mes ton ta le les des du et ou ne
    pas avec sans pour dans sur chez j'ai j'aime j'habite c'est n'ai io sono sei il lo gli uno mio mia e di da non
    ho abito vivo lavoro eu sou é meu minha o os as um uma e não tenho moro em ik ben het een mijn en niet met
    voor van heb woon jeg er min og ikke jag är mitt och inte bor ja jestem mam nie mój moja w na z minä olen asun
    minun on ei ben bir benim ve için szeretem vagyok egy nem az"""
)
# Greetings, thanks and goodbyes; more words may follow ("Vielen Dank, Anna").
_COURTESY = (
    r"(?:¡?hola|gracias|muchas|buenos|buenas|adi[oó]s|de nada|vale|hallo|danke|vielen|guten|gute|servus|moin|gr[uü](?:ß"
    r"|ss)|tsch[uü]ss?|bonjour|bonsoir|salut|coucou|merci|au revoir|ciao|grazie|prego|salve|buongiorno|buonasera|ol[aá]"
    r"|oi|obrigad[oa]|bom|boa|tchau|hoi|goede\w*|dank|bedankt|hei|moi|kiitos|hej|hall[aå]|god|tack|takk|cze[sś][cć]"
    r"|dzie[nń]|dzi[eę]kuj[eę]|ahoj|szia|merhaba|selam|te[sş]ekk[uü]r\w*|спасибо|привет|здравствуйте|добрый|доброе"
    r"|привіт|hi|hello|hey|thanks)(?!\w)|ありがとう|こんにちは|こんばんは|おはよう|谢谢|謝謝|你好|您好|大家好|早上好|감사합니다|안녕하세요|안녕"
)
DISMISSED = re.compile(rf"^(?:{_COURTESY}|(?:por favor|bitte|s'il|per favore)(?!\w))", re.IGNORECASE)
# The beginning of a statement about oneself; it may follow a greeting without a comma, and have two words only.
_ONESELF = (
    r"(?:(?:ich|yo|soy|estoy|tengo|vivo|me (?:llamo|gusta|encanta)|je|io|sono|ho|abito|mi (?:chiamo|piace)|eu|sou|moro"
    r"|tenho|ik|jag|jeg|jestem|mam|mieszkam|olen|minä|ben|vagyok|я|мне|меня)(?!\w)|j'|[我私僕俺저제])"
)
_STATES = re.compile(rf"^{_ONESELF}\W?\w", re.IGNORECASE)
_GREETING = re.compile(
    rf"^(?:{_COURTESY})(?:(?:[^\W\d]|['\u2019 ]){{0,30}}?\s?[,;:!.\uff0c\u3001\uff01\u3002\u2013\u2014-]+\s*(?=\w)"
    rf"|\s?(?={_ONESELF}))",
    re.IGNORECASE,
)
# "Das ist sehr nett", "qué tal": about what was said, or about the other one.
_REMARK = re.compile(
    r"^(?:(?:das|dies|es) (?:ist|war|hilft|freut|tut)|wie|was|und dir|eso|esto|qu[eé]|c[oó]mo (?:est|va|te)\w*|todo|muy"
    r"|c'est|ça|cela|comment|questo|come (?:sta|va)\w*|isso|tudo|это|как|что|to|jak|dat is|hoe|det|hur|tu|du)(?!\w)",
    re.IGNORECASE,
)
_WORDY = re.compile(r"[^\W\d_]")
# In scripts without spaces, so many letters count as three words.
_FEWEST_LETTERS = 4


def is_foreign(sentence: str) -> bool:
    """Tell whether *sentence* is in another language than English."""
    if _unspaced(sentence):
        return True
    words = [word for word in tokenize(sentence) if _WORDY.match(word)]
    known = sum(word in _COMMON for word in words)
    other = sum(word in _FOREIGN or not word.isascii() for word in words)
    return len(words) >= 2 and other > known and other * 4 >= len(words)


def without_greeting(sentence: str) -> str:
    """Return *sentence* without the greeting or thanks that it begins with, unless only a remark follows."""
    greeting = _GREETING.match(sentence)
    rest = sentence[greeting.end() :] if greeting is not None else ""
    return rest[:1].upper() + rest[1:] if _is_long(rest) and not _REMARK.match(rest) else sentence


def is_statement(foreign: str) -> bool:
    """Tell whether a *foreign* sentence is long enough to state something, and no greeting or thanks."""
    return _is_long(foreign) and DISMISSED.match(foreign) is None


def _is_long(foreign: str) -> bool:
    enough = len(foreign.split()) >= 3 or (_unspaced(foreign) and len(foreign) >= _FEWEST_LETTERS)
    return enough or (" " in foreign and _STATES.match(foreign) is not None)


def _unspaced(sentence: str) -> bool:
    head = sentence[:40]
    dense = sum(
        "\u3040" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7a3" or "\u0e00" <= letter <= "\u0e7f"
        for letter in head
    )
    return dense * 2 > len(head)
