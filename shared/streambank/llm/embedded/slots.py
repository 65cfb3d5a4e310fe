"""Attributes that have one value at a time, read out of the text of a fact."""

from __future__ import annotations

import re
from dataclasses import dataclass

from streambank.llm.embedded.words import STOP_WORDS, stem

NO = "no"
YES = "yes"


@dataclass(frozen=True, slots=True)
class Slot:
    """An attribute and its value; a loose one confirms but never contradicts ("I have a cat called Tom")."""

    key: str
    value: str
    loose: bool = False

    def agrees(self, other: Slot) -> bool:
        """Tell whether both name the same value, one perhaps in more words."""
        mine, theirs = _facets(self), _facets(other)
        same_polarity = ("not" in mine) == ("not" in theirs)
        return self.key == other.key and same_polarity and bool(mine and theirs) and (mine <= theirs or theirs <= mine)

    def contradicts(self, other: Slot) -> bool:
        """Tell whether both cannot hold at once."""
        if self.key != other.key or self.loose or other.loose or self.agrees(other):
            return False
        denied = _denied(self.value) or _denied(other.value)
        return denied is None or denied in (self.value, other.value)


MEATLESS = "meatless"
_WITHOUT_MEAT = frozenset({"vegan", "vegetarian", "pescatarian", "pescetarian", "fruitarian"})


def _facets(slot: Slot) -> set[str]:
    """Return the words of *slot*'s value and what they imply: whoever is vegan eats no meat."""
    words = set(slot.value.split())
    return words | {MEATLESS} if words & _WITHOUT_MEAT else words


def _denied(value: str) -> str | None:
    return value.removeprefix("not ") if value.startswith("not ") else None


_ATTRIBUTES = (
    r"(?:\w+ )?(?:team|size|bedtime|address|number|car|bank|gym|school|university|college|major|salary|budget|weight"
    r"|height|hometown|home town|nationality|religion|native language|mother tongue|first language|blood type"
    r"|star sign|zodiac sign|wifi|password|pin|email|birthday|anniversary|job|title|job title|employer|company|age"
    r"|surname|last name|first name|middle name|nickname|pronouns|phone|phone number|time zone|timezone|handle"
    r"|username|goal|commute|diet|major|hobby|postcode|zip code|eye color|hair color|seat|plan|currency|unit)"
)
JOBS = (
    r"(?:\w+ )?(?:\w+(?:ologist|ician|smith|wright|iatrist|pathist)|nurse|teacher|engineer|developer|programmer"
    r"|designer"
    r"|lawyer|doctor|dentist|architect|plumber|carpenter|farmer|chef|cook|baker|waiter|waitress|driver|pilot|journalist"
    r"|writer|author|editor|artist|photographer|accountant|analyst|manager|director|consultant|scientist|researcher"
    r"|professor|student|midwife|surgeon|vet|veterinarian|librarian|clerk|cashier|secretary|butcher|barista|bartender"
    r"|soldier|officer|firefighter|therapist|counselor|translator|musician|actor|actress|dancer|beekeeper|gardener"
    r"|pharmacist|paramedic|judge|banker|broker|salesman|barber|hairdresser|tailor|mechanic|welder|builder|contractor"
    r"|entrepreneur|freelancer|receptionist|administrator|tester|founder|ceo|cto|pensioner|retiree)"
)
_DIETS = (
    r"(?:vegan|vegetarian|pescatarian|omnivore|carnivore|flexitarian|fruitarian|pescetarian|keto|meat eater"
    r"|gluten free)"
)
_STATUSES = r"(?:single|married|divorced|engaged|widowed|separated|dating|in a relationship)"
_MOVE = r"moved|relocated|moving|relocating|move"
_OBJECT = r"(?P<value>.+)"
_PLACES = (
    r"(?:\w+ )?(?:office|shop|store|studio|lab|laboratory|factory|warehouse|hospital|school|bank"
    r"|bakery|restaurant|library|clinic|garage|workshop|kitchen|space|hotel|farm|pharmacy|mall|museum)"
)
_STAYS = r"(?=$| ,| (?:because|since|instead|but|and i)\b)"
# Besides what holds on its own occasions something else may hold on others.
_OCCASION = re.compile(
    r" (?:(?:at|on|over) (?:the )?weekends?|(?:on|every) (?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|(?:in|during) (?:the )?(?:summers?|winters?|spring|autumn|mornings?|evenings?|afternoons?)(?! \d)|at night"
    r"|sometimes|occasionally|every (?:other )?(?:weekend|summer|winter|week|month)|once|twice|when|whenever|if"
    r"|part time|on the side)(?: |$)"
)
_ONE_AT_A_TIME = frozenset({"car", "employer", "job", "workplace"})
_ABSTAINS = re.compile(
    r"^i (?:have )?(?:not|never|gave up|given up|quit|stopped) (?:(?:eat|eating|eaten) )?(?:any )?meat"
    r"(?: (?:or|and) fish)?(?=$| ,| (?:because|since|for)\b)"
)

# Key and pattern; {0} in a key is the group "of", and a value with nothing in it does not count.
_PATTERNS = tuple(
    (key, re.compile(pattern))
    for key, pattern in (
        ("name", rf"^(?:my (?:full |first )?name is|i am (?:called|named)|i go by) {_OBJECT}"),
        ("called", rf"^call me {_OBJECT}"),
        ("reply in", rf"^(?:always )?(?:reply|respond|answer|speak|write|talk)(?: to me)? (?:only )?in {_OBJECT}"),
        ("name:{0}", rf"^(?:my|our) (?P<of>.+?) (?:is|am|are|was) (?:called|named) {_OBJECT}"),
        ("name:{0}", rf"^(?:my|our) (?P<of>.+?) 's (?:first )?name is {_OBJECT}"),
        ("name:{0}", rf"^the name of (?:my|our) (?P<of>.+?) is {_OBJECT}"),
        ("name:{0}", rf"^(?:i|we) (?:named|called) (?:my|our) (?:new )?(?P<of>\S+) {_OBJECT}"),
        ("favorite {0}", rf"^my (?:new |all time |absolute )?favorite (?P<of>.+?) (?:is|are|was) {_OBJECT}"),
        (
            "residence",
            (
                r"^(?:i|we) (?:not )?(?:have )?(?:am |are )?(?:live|living|reside|based) (?:in|near) "
                rf"(?!a |an |my ){_OBJECT}"
            ),
        ),
        (
            "residence",
            (
                rf"^(?:i|we) (?:have |am |are )?(?:{_MOVE}) (?:\w+ )?(?:from .+ )?to "
                rf"(?!a |an |my |the |another |be ){_OBJECT}"
            ),
        ),
        ("residence", rf"^(?:my|our) home is in {_OBJECT}"),
        ("address", rf"^i live at {_OBJECT}"),
        ("origin", rf"^i (?:am|come) (?:originally )?from {_OBJECT}"),
        (
            "job",
            (
                rf"^(?:i|my) (?:not )?(?:have )?(?:started )?(?:am )?(?:work|working"
                rf"|worked) (?:\w+ ){{0,3}}?as (?:an? )?{_OBJECT}"
            ),
        ),
        ("job", rf"^i (?:got|have) (?:an? )?(?:new )?job as (?:an? )?{_OBJECT}"),
        ("job", rf"^i (?:am|became|have become) (?:not )?(?:an? )?(?:\w+ )?(?P<value>(?:{JOBS}))\b(?! of mine)"),
        ("job", r"^i (?:am|have) (?P<value>retired|unemployed)\b"),
        (
            "workplace",
            rf"^i (?:not )?(?:am )?(?:work|working) (?:from|at) (?:my )?(?P<value>home(?: office)?){_STAYS}",
        ),
        (
            "workplace",
            (
                rf"^i (?:not )?(?:am )?(?:work|working) "
                r"(?:(?:at|from) (?:the|our|an) (?=office)|in (?:an?|the|our|my) )"
                rf"(?P<value>{_PLACES}){_STAYS}"
            ),
        ),
        (
            "employer",
            rf"^i (?:not )?(?:am )?(?:started )?(?:work|working) (?:at|for) (?!home|night|the moment){_OBJECT}",
        ),
        ("employer", rf"^i (?:got|have) a (?:new )?job (?:at|with) {_OBJECT}"),
        ("diet", rf"^i (?:have )?(?:am|became|become|went|turned|been|eat) (?:not )?(?:an? )?(?P<value>{_DIETS})\b"),
        ("diet", r"^i (?:started )?(?:eat|eating) (?P<value>meat)(?: again)?$"),
        ("age", r"^i (?:am|turned|will be|am turning) (?P<value>\d{1,3})(?: years old)?(?:$| ,| and| as| in| on)"),
        ("relationship", rf"^i (?:not )?(?:have )?(?:am|got|became|been|am getting) (?:not )?(?P<value>{_STATUSES})\b"),
        ("birthday", rf"^i was born on {_OBJECT}"),
        ("car", rf"^i (?:not )?(?:have )?drive (?:an?|the|my) {_OBJECT}"),
        ("team", rf"^i (?:not )?(?:support|root for) (?!my |the |our |an? |her |him |them |it ){_OBJECT}"),
        ("phone number", r"^my (?:phone|cell|work phone)(?: phone)?(?: number)? is (?P<value>\W*\d.+)"),
        ("email", r"^my (?:\w+ )?email(?: address)? is (?P<value>\S+@\S+)"),
        ("routine {0}", r"^i (?P<of>wake up|get up|go to bed|go to sleep|start work|finish work) at (?P<value>.+)"),
        ("weight", r"^i weigh (?P<value>\d.+)"),
        ("{0}", rf"^(?:my|our) (?:new |current )?(?P<of>{_ATTRIBUTES}) (?:is|are) (?:on )?{_OBJECT}"),
        ("count {0}", r"^(?:i|we) have (?P<value>\d+|no|two|three|four|five|six|seven|eight|nine|ten) (?P<of>\w+)$"),
    )
)
_LOOSE = re.compile(
    r"^(?:i|we) (?:\w+ )?(?:have|got|adopted) (?:an?|another) (?P<of>(?:\w+ )??\w+) (?:called|named) (?P<value>.+)"
)
_TASTE = re.compile(r"^i (?P<not>not )?like (?!it\b|that\b|this\b|them\b|him\b|her\b|you\b)(?P<of>.+)")
_RATHER = re.compile(r"^i prefer (?P<value>.+?) (?:to|over|rather than|instead of) (?P<other>.+)")
_PREFER = re.compile(r"^i prefer (?P<of>.+)")
_BEVERAGE = re.compile(r"\b(tea|coffee|espresso|latte|cocoa|matcha)\b")
_ADDITIVE = re.compile(r"\b(sugars?|milk|cream|honey|sweetener|lemon)\b")
_WITHOUT = re.compile(r"\b(?:no|not|without|never|less) ")

# Where a value ends: at a reason, an aside, the next statement or a date.
_VALUE_END = re.compile(
    r" (?:,|because|since|but|so|instead|and (?:i|my|we)|with (?:my|our)|for (?:\d|two|three|four|five|ten|a |many)"
    r"|(?:in|on|around|until|from) (?:the \w+ of )?(?:\d{1,2} )?(?:january|february|march|april|may|june|july"
    r"|august|september"
    r"|october|november|december|spring|summer|autumn|winter|\d{4})\b|too|as well|please|when|if|while|not|again"
    r"|last)(?: |$)"
)  # fmt: skip
_TITLES = re.compile(r"^(?:an? |the |my |mr |mrs |ms |dr )+")


def slot_of(plain: str, owner: str, names: frozenset[str]) -> Slot | None:
    """Return the slot that *plain* (canonical words, as *owner* says them) fills, if any."""
    if "used to" in plain:
        return None
    found = _first_slot(plain, owner, names)
    if found is None or not owner:
        return found
    return Slot(found.key if found.key.startswith("name:") else f"{owner} / {found.key}", found.value, found.loose)


def _first_slot(plain: str, owner: str, names: frozenset[str]) -> Slot | None:
    if _ABSTAINS.match(plain):
        return Slot("diet", MEATLESS)
    return _named(plain, owner, names) or _mixed(plain) or _tabled(plain) or _loose(plain) or _preferred(plain)


def _named(plain: str, owner: str, names: frozenset[str]) -> Slot | None:
    """Read "my boss is Anna", which says a name only because it is capitalised."""
    words = plain.split()
    is_name = len(words) in (3, 4) and words[:2] == ["i", "am"] and all(word in names for word in words[2:])
    if not is_name:
        return None
    # "I'm Ana" and "I'm German" look the same, so the user's own name is only confirmed by it.
    key = f"name:{_attribute(owner)}" if owner else "name"
    return Slot(key, " ".join(words[2:]), loose=not owner)


def _mixed(plain: str) -> Slot | None:
    """Read how a drink is taken, however it is put: "no sugar in my tea"."""
    drink, additive = _BEVERAGE.search(plain), _ADDITIVE.search(plain)
    if drink is None and additive is None:
        return None
    if drink and additive:
        return Slot(f"{additive[1].rstrip('s')} in {drink[1]}", NO if _WITHOUT.search(plain) else YES)
    black = drink and re.search(rf"\b{drink[1]} black\b|\bblack {drink[1]}\b", plain)
    return Slot(f"milk in {drink[1]}", NO) if drink and black and drink[1] == "coffee" else None


def _tabled(plain: str) -> Slot | None:
    for key, pattern in _PATTERNS:
        found = pattern.match(plain)
        if found is not None and (value := _value(found)):
            if key in _ONE_AT_A_TIME and _OCCASION.search(plain):
                return None
            return Slot(_key(key, found), value)
    return None


def _key(key: str, found: re.Match[str]) -> str:
    return key.format(_attribute(found["of"])) if "{0}" in key else key


def _attribute(noun: str) -> str:
    """Return *noun* without what does not tell it from others: "new phone number" is "phone number"."""
    words = [word for word in noun.split() if word not in {"new", "current", "little", "old", "dear"}]
    return " ".join(stem(word) for word in words)


def _value(found: re.Match[str]) -> str:
    value = clipped(found["value"])
    denies = re.search(r"\bnot\b", found.string[: found.start("value")])
    return f"not {value}" if value and denies else value


def clipped(value: str) -> str:
    """Return *value* up to where the next thought begins, without articles."""
    end = _VALUE_END.search(f" {value} ")
    kept = value[: max(end.start() - 1, 0)] if end and end.start() else value
    return _TITLES.sub("", kept.strip(" ,."))


def _loose(plain: str) -> Slot | None:
    found = _LOOSE.match(plain)
    return Slot(f"name:{_attribute(found['of'])}", clipped(found["value"]), loose=True) if found else None


def _preferred(plain: str) -> Slot | None:
    rather = _RATHER.match(plain)
    if rather is not None:
        pair = sorted({taste(rather["value"]), taste(clipped(rather["other"]))})
        return Slot("rather " + " | ".join(pair), taste(rather["value"]))
    liked = _TASTE.match(plain) or _PREFER.match(plain)
    thing = taste(clipped(liked["of"])) if liked else ""
    if liked is None or not thing:
        return None
    return Slot(f"likes {thing}", NO if liked.groupdict().get("not") else YES)


def taste(thing: str) -> str:
    """Return the words that tell *thing* from other things, in no order."""
    return " ".join(sorted({stem(word) for word in thing.split() if word not in STOP_WORDS}))
