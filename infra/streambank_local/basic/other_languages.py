"""Patterns for attributes in other languages, with the same keys as the English patterns."""

from __future__ import annotations

_NOW = r"(?:jetzt |nun |aktuell |seit \w+ |ahora |actualmente |ya |maintenant |désormais |adesso |ora |agora |nu )?"
_NO_NUMBER = r"(?!\d)"

# Key and pattern, as in `attributes`: German, Spanish, French, Italian, Portuguese, Dutch.
OTHER_LANGUAGES = (
    ("residence", rf"^ich (?:wohne|lebe) {_NOW}in (?P<value>.+)"),
    ("residence", rf"^(?:yo )?{_NOW}vivo {_NOW}en (?P<value>.+)"),
    ("residence", rf"^(?:{_NOW})(?:j'habite|je vis) {_NOW}(?:à|a|en) (?P<value>.+)"),
    ("residence", rf"^(?:{_NOW})(?:io )?(?:abito|vivo) {_NOW}a (?P<value>.+)"),
    ("residence", rf"^(?:{_NOW})(?:eu )?(?:moro|vivo) {_NOW}em (?P<value>.+)"),
    ("residence", rf"^ik woon {_NOW}in (?P<value>.+)"),
    (
        "name",
        rf"^(?:ich heiße|ich heisse|me llamo|je m'appelle|mi chiamo|me chamo|ik heet) {_NO_NUMBER}(?P<value>\S+)$",
    ),
    (
        "name:{0}",
        (
            r"^(?:mein|meine|mi|mon|ma|il mio|la mia|meu|minha|o meu|a minha|mijn) (?P<of>\w+) "
            rf"(?:heißt|heisst|se llama|s'appelle|si chiama|se chama|heet) {_NOW}{_NO_NUMBER}(?P<value>\S+)$"
        ),
    ),
    ("job", r"^ich arbeite (?:jetzt )?als (?P<value>.+)"),
    ("job", r"^(?:ahora )?trabajo (?:ahora )?como (?P<value>.+)"),
    ("job", r"^je travaille (?:maintenant )?comme (?P<value>.+)"),
    ("employer", r"^ich arbeite (?:jetzt )?bei (?P<value>.+)"),
)
