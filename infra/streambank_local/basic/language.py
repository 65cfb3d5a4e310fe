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
_DISMISSED = re.compile(
    r"^(?:(?:¡?hola|gracias|muchas|buenos|buenas|adi[oó]s|de nada|por favor|vale|hallo|danke|vielen|guten|gute"
    r"|tsch[uü]ss?|bitte|bonjour|bonsoir|salut|merci|au revoir|s'il|ciao|grazie|prego|buongiorno|ol[aá]|obrigad[oa]|bom"
    r"|boa|tchau|hei|kiitos|hej|tack|takk|cze[sś][cć]|dzi[eę]kuj[eę]|merhaba|te[sş]ekk[uü]r\w*|спасибо|привет|здравствуйте)(?!\w)"
    r"|ありがとう|こんにちは|谢谢|你好|감사합니다|안녕하세요)",
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


def is_statement(foreign: str) -> bool:
    """Tell whether a *foreign* sentence is long enough to state something, and no greeting or thanks."""
    long_enough = len(foreign.split()) >= 3 or (_unspaced(foreign) and len(foreign) >= _FEWEST_LETTERS)
    return long_enough and _DISMISSED.match(foreign) is None


def _unspaced(sentence: str) -> bool:
    head = sentence[:40]
    dense = sum(
        "\u3040" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7a3" or "\u0e00" <= letter <= "\u0e7f"
        for letter in head
    )
    return dense * 2 > len(head)
