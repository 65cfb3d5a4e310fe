"""Tells which sentences state something about the user that is worth remembering."""

from __future__ import annotations

import re

from streambank_local.basic.attributes import JOBS
from streambank_local.basic.meaning import Meaning
from streambank_local.basic.people import PETS, RELATIVES, names_who_must_avoid
from streambank_local.basic.words import word_set


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_QUESTION = _any_of(
    r"^(?:who|what|when|where|why|how|which|whose)(?:'s|'re| (?:is|are|was|were|do|does|did|can|could|should|would|will"
    r"|have|has|am|about|if|kind|time|else|many|much|old|long|come)\b)",
    r"^(?:do|does|did|is|are|was|were|can|could|would|should|will|have|has|am|may|shall|don't|isn't|aren't|can't)"
    r" (?:you|i|we|he|she|it|they|there|this|that|my|the|your|anyone)\b",
    r"^(?:any (?:ideas|tips|advice|plans|recommendations)|what a |how (?:cool|great|nice|wonderful))",
)
_HYPOTHESIS = _any_of(
    r"^(?:imagine|suppose|supposing|let's say|say i|what if|pretend|hypothetically|assume|assuming|for example"
    r"|let's pretend)\b",
    r"\bif i (?:were|had|was|won|could)\b",
    r"^if\b.*(?:\b(?:would|could|might|were|will)\b|'d\b|'ll\b)",
    r"\b(?:would|could|might|'d|should) have\b",
    r"^i wish\b",
    r"^(?:i|we) (?:was|were) (?:(?:just|almost|originally) )?(?:going|about|planning|supposed|meaning|hoping) to\b",
    r"^i (?:could|would)\b(?! (?:love|like|prefer|rather|never|not))",
    r"^(?:in|for) (?:my|the|this|our) (?:story|novel|dream|game|book|roleplay|role-play|example|scenario)\b",
)
_SMALL_TALK = _any_of(
    r"^(?:i'm|i am|we're|im) (?:(?:so|really|very|super|just|also|all|totally|doing|here|always|truly|pretty) )*"
    r"(?:glad|sorry|curious|wondering|asking|sure|thrilled (?:for|to hear)|happy (?:for|to hear|to help)|proud of you"
    r"|grateful|thankful|blessed|here for|looking forward|with you|rooting|afraid (?:that|i)|excited (?:for you"
    r"|to hear|to see)|honored|impressed)\b",
    r"^(?:i'm|i am|we're|im) (?:(?:so|really|very|super|just|also|all|totally|doing|pretty|quite) )*(?:fine|good"
    r"|great|well|ok|okay|back|here|done|ready|in|down|tired|busy|listening|kidding|joking|happy|excited|confused"
    r"|stuck|lost|stumped|speechless|jealous)(?: (?:now|today|too|again|then|with that|right now))?$",
    r"^i (?:see(?! (?:an?|my|our|the) )|understand|agree|get it|get that|suppose|bet|hear you|feel you|doubt|appreciate"
    r"|promise|swear|wonder|admire|envy|second that|hope(?! to)|thought (?:you|i'd|we|it|that)|think (?:you|that's|it"
    r"|so|we|this|they|there)|mean\b|believe (?:you|it|in you)|guess (?:it|so|that|you|we|not)|totally|completely agree"
    r"|know (?:right|that|how|what|it"
    r"|you|this|the feeling|exactly)|know$|remember$|said|did$|do$|have to (?:go|run)|gotta|should go|gotta go)\b",
    r"^i (?:can't|cannot|can not|couldn't) (?:wait|believe|imagine|agree|thank|help but|stop (?:smiling|thinking)"
    r"|recommend)\b",
    r"^i(?:'ll| will|'d)(?: definitely| totally| be sure to| just)* (?:let|keep|see|talk to|check|do|try|take a look"
    r"|make sure|look|be (?:right|here|back|there|in touch|sure)|give it|get back|think about|remember|bring|send"
    r"|show|share|never forget|say)\b",
    r"^i(?:'d| would)? (?:also )?(?:just )?(?:want|wanted|need|needed|like)(?: you)? to (?:know|ask|see (?:what"
    r"|how|if)|thank|say|hear|check)\b",
    r"^i (?:just )?(?:want|need)(?:'d like)? (?:you|your|help|some help|advice|a hand|assistance)\b"
    r"|^i'd like (?:you|your|help)\b",
    r"^i have (?:a|an|another|one more|some|a few|one) (?:\w+ )?questions?\b|^i was (?:just )?(?:wondering|asking"
    r"|joking|kidding)\b",
    r"^i don't (?:know|think so|mind|care|understand|get it|blame|see why|doubt|have any questions|remember|recall)\b",
    r"^(?:my (?:pleasure|bad|apologies|condolences|thoughts|question|point|guess|fault|mistake|god|goodness)"
    r"|our (?:chat|conversation|talk|last))\b",
    r"^(?:now )?i (?:get|understand|see) (?:how|why|what|that)\b|^we (?:all|can|should|could)\b|^we've come\b"
    r"|^i have no (?:idea|clue)\b|^a lot(?:'s| has)\b",
    r"^(?:i'm|we're) (?:not )?(?:gonna|going to) (?:stay|keep|try)\b|\b(?:glad|happy) to (?:help|hear)\b"
    r"|\bi'm not giving up\b",
    r"^(?:since we last|seems? like|we have the power|i won't give up|no words|maybe just|not yet)\b",
    r"^(?:feels?|feeling|gives?|makes?|keeps?|helps?|reminds?|hoping|been|can't wait|adding|having|seeing|knowing"
    r"|looking|thinking|hearing|getting|trying|being|speaking|excited|not (?:a|sure|gonna|bad|much))\b",
    r"^(?:thanks|thank|congrats|congratulations|good (?:luck|morning|night|evening|job|for)|nice|great|wow|sounds"
    r"|see you|talk (?:to you|soon)|take care|bye|goodbye|hope|glad|happy (?:to|for)|so (?:glad|happy|sorry|proud)"
    r"|that's|that is|that's all"
    r"|no (?:problem|worries)|sorry|welcome|cheers|way to go|keep (?:it|up|going)|what's up|sure thing|of course)\b",
)
# "I see my doctor every week" is a fact, unlike "I see a problem".
_INSIGHT = re.compile(
    rf"^i see (?:an?|my|our|the) (?!(?:\S+ ){{0,3}}?(?:{'|'.join(sorted(RELATIVES))}|{JOBS}|physio\w*|specialist)s?\b"
    r"|.{0,80}\b(?:every|each|weekly|monthly|daily|regularly|often|once|twice|(?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)days?|weekends?|(?:mornings|evenings|afternoons))\b)",
    re.IGNORECASE,
)
# Things of this conversation: "this email", "your answer".
_AT_HAND = (
    r"\b(?:this|these|that|those|your|the following|the above) (?:\w+ )?(?:e-?mails?|articles?|texts?|answers?"
    r"|responses?|reply|replies|codes?|documents?|files?|messages?|paragraphs?|sentences?|lists?|links?|errors?|bugs?"
    r"|questions?|essays?|images?|pictures?|screenshots?|suggestions?|explanations?|examples?|summary|summaries"
    r"|translations?|songs?|films?|movies?|ideas?|places?|photos?|recipes?|plans?|designs?|approach|apps?|books?|games?"
    r"|shows?|outfits?|colou?rs?|jokes?|stor(?:y|ies)|quotes?|topics?|points?|options?|versions?)\b"
)
_MOMENTARY = (
    r"\b(?:brb|afk|gtg|ttyl)\b|\bright now$|^i(?:'m| am) (?:just )?about to\b|^i(?:'m| am) (?:just |still |currently "
    r"|only )*(?:getting|grabbing|making|having|eating|drinking|heading|going|running|walking|waiting|sitting|standing"
    r"|lying|cooking|watching|looking|checking|typing)(?: (?:an?|some|my|the|out|off|for|at|in|on|up"
    r"|to)){0,2}(?: (?:quick|cup of|bite of|bit of))? (?:coffee|tea|drink|water|snack|bite|breakfast|lunch|dinner"
    r"|shower|nap|break|bed|bus|train|queue|line|couch|sofa|door|phone|store|shop|bathroom|toilet|tv|home|out|off|it"
    r"|that|you|now)(?: (?:now|first|quickly|soon|here|outside|atm|at the moment|real quick))?$|^i(?:'m"
    r"| am) back (?:to (?:normal|work|it)|home|online|again)\b"
)
_AILING = (
    r"^i(?:'ve| have)(?: got)? (?:(?:such|quite|just|a|an|the|bad|terrible|slight|little|awful|real) )*"
    r"(?:headache|hangover|cold|sore throat|stomach ache|cramps?|hiccups|fever|long day|rough (?:day|night)|bad day)"
    r"(?: (?:today|now|again|tonight))?$"
    r"|^(?:my|our) (?:[\w-]+ ){1,3}?(?:is|are|was) (?:(?:so|really|very|again|always|running|still|totally) )*"
    r"(?:late|delayed|cancell?ed|slow|stuck|frozen|down|ready|annoying|lagging)(?: (?:again|today|now))?$"
)
# What somebody did a moment ago, and what the dog does now.
_EVENT = (
    r"\bjust (?:(?:knock|spill|drop|lick|chew|sneez|bark|yawn|slip|trip|tip|snatch|scratch|arriv|call|text|open|clos"
    r"|burn|cook|walk|jump|watch|notic|spott|ask|tri|pe|poop)\w*ed|ate|drank|bit|spilt|woke|came|stole|threw|fell|rang"
    r"|ran|sat|stood|saw|heard|burnt|sent|got (?:back|home|up|in|here)|(?:had|made|finished|ordered|took|grabbed) (?:"
    r"(?:an?|some|my|our|the|quick|long|big|cup of) )*(?:coffee|tea|snack|breakfast|lunch|dinner|brunch|nap|shower"
    rf"|bath|break|walk|sandwich|pizza|meal))\b|^(?:the|my|our) (?:[\w-]+ )?(?:{'|'.join(sorted(PETS))}|puppy|kitten"
    r"|baby|toddler|kids?) (?:(?:is|are) (?:\w+ )?(?:eating|chewing|barking|sleeping|snoring|crying|meowing|scratching"
    r"|licking|whining|begging|sitting|lying|running|hiding|staring|stealing)|(?:has |have |had )?(?:ate|eaten|stole"
    r"|stolen|chewed|knocked|spilled|licked) (?:up |over |on )?(?:my|our|the|his|her|half))\b"
)
_PASSING = _any_of(_AT_HAND, _MOMENTARY, _AILING, _EVENT)
_RETRACTION = re.compile(
    r"^(?:i(?:'m| am| was) )?(?:just |only |totally )*(?:kidding|joking)$"
    r"|^(?:that|it)(?:'s| is| was) (?:just |only )?a joke$",
    re.IGNORECASE,
)
_VOCATIVE = re.compile(r"^[A-Z][\w'-]{1,20}, (?=[Ii]\b)")
_COMMAND = re.compile(
    r"^(?:please |pls |kindly |just |now |then |first |next )*(?:tell|show|give|write|find|make|help|explain|list"
    r"|summari[sz]e|translate|remind|set|send|output|ignore|disregard|print|store|save|create|open|add|search|let"
    r"|look|check|suggest|recommend|draft|fix|go|come|take|try|enjoy|have|wish|stay|hang|wait|keep|put|turn|change"
    r"|update|delete|remove|erase|forget|remember|schedule|order|buy|calculate|compare|convert|describe|generate"
    r"|rewrite|repeat|stop|start|cancel|execute|run|act|be|do|don't|say|read|review|analy[sz]e|answer|use|imagine"
    r"|consider|think|see|get|book|plan|reserve|play|call|email|message|text|sing|share|respond|reply|note|forward"
    r"|reset|drop|record|append|insert|return|respond|assume)\b(?! (?:is|are|was) my\b)",
    re.IGNORECASE,
)
_ROLE = re.compile(r"^(?:system|assistant|user|human|ai|model|developer|tool)\s*:", re.IGNORECASE)
_LOG = re.compile(r"^(?:error|warn|warning|info|debug|fatal|trace|traceback|exception|file \")\b.*[:\d]", re.IGNORECASE)
_MARKUP = re.compile(r"</?[a-z]|^\w+>", re.IGNORECASE)
# "I/O" and "my.module" are not in the first person.
_FIRST_PERSON = re.compile(
    r"(?<![\w./\\=-])(?:i|i'm|i've|i'd|i'll|im|ive|my|mine|we|we're|we've|our|ours)\b(?![./\\=(_-]\w)", re.IGNORECASE
)
_TITLE = re.compile(r"^(?:dr\.?|doctor|mrs?\.?|ms\.?|professor|prof\.?) ", re.IGNORECASE)
# In a longer sentence "me" does not make the user the topic.
_AS_OBJECT = re.compile(r"^(?:\S+ ){1,6}me\b", re.IGNORECASE)
_YOU = re.compile(r"\b(?:you|your|you're|yours|you've|you'll|ya)\b", re.IGNORECASE)
_PRONOUN_START = re.compile(
    r"^(?:it|it's|they|they're|this|that|these|those|he|he's|she|she's|there|there's|his|her|its|their|here|here's)\b",
    re.IGNORECASE,
)
_VAGUE = word_set("it them they those these he she him her there one ones something anything everything stuff")
_HOLLOW = word_set(
    """lik lov go get do mak think feel thing great good nic fun tim say tell know want try see lot much be have hav
    amaz awesom cool best realli super bit way kind sort stuff tak giv let keep hop look seem help work alway
    never ever glad happi happy excit definit sure day lif peopl person mean wow sound yeah need com find someth
    anyth everyth remind learn inspir bring sha shar enough ok right mayb even wonder special wonderful difficult
    hard easy proud true care truli new long more most many few first last next"""
)
_VAGUE_WITHIN = 5
# The "it" of "if it rains" refers to nothing.
_EXPLETIVE = re.compile(
    r"\b(?:if|when|whenever|unless|while|until|because|since|once) it (?=is|rain|snow|get|was|freez)"
    r"|\b(?:anything|everything|something) (?=with|containing|from|but|except|made)"
)
# "I" or "my" within so many characters is the subject; later in the sentence it is not.
_SUBJECT_WITHIN = 60


# Why a sentence is not remembered.
NOT_ABOUT_USER = "not about the user or somebody of theirs"
GUESS = "a guess or a hypothesis"
SMALL_TALK = "small talk, or true for a moment only"
COMMAND = "a request, or no sentence of a person"
VAGUE = "too short or too vague to be remembered"
PASTED = "not the user's own words"
PLANTED = "it gives orders to the model"
RETRACTED = "the user took it back"
_LONGEST_COURTESY_WORDS = 5


def states_nothing(sentence: str) -> bool:
    """Tell whether *sentence* is a question, a greeting, thanks or a filler alone."""
    words = sentence.split()
    is_polite = _SMALL_TALK.search(sentence) is not None and _FIRST_PERSON.search(sentence) is None
    return len(words) < 3 or bool(_QUESTION.search(sentence)) or (is_polite and len(words) <= _LONGEST_COURTESY_WORDS)


def is_small_talk(sentence: str) -> bool:
    """Tell whether *sentence* is small talk."""
    text = _VOCATIVE.sub("", sentence, count=1)
    return any(pattern.search(text) for pattern in (_SMALL_TALK, _INSIGHT, _PASSING))


def is_retraction(sentence: str) -> bool:
    """Tell whether *sentence* says that the last statement was a joke."""
    return _RETRACTION.match(sentence) is not None


def is_command(sentence: str) -> bool:
    """Tell whether *sentence* is a command to the assistant, a log line, markup, or text in another role."""
    return bool(_COMMAND.match(sentence) or _ROLE.match(sentence) or _LOG.match(sentence) or _MARKUP.search(sentence))


def rejection(sentence: str, known: frozenset[str] | set[str] = frozenset()) -> str:
    """Return why an English *sentence* is no statement about the user or the people *known* to be theirs, else ""."""
    if _QUESTION.search(sentence) or _HYPOTHESIS.search(sentence):
        return GUESS
    if is_small_talk(sentence):
        return SMALL_TALK
    if is_command(sentence):
        return COMMAND
    return "" if _is_about_user(sentence, known) else NOT_ABOUT_USER


def is_concrete(sentence: str, meaning: Meaning) -> bool:
    """Tell whether *sentence* is concrete enough to be understood later."""
    return meaning.slot is not None or _has_content(sentence, meaning)


def _is_about_user(sentence: str, known: frozenset[str] | set[str]) -> bool:
    if _YOU.search(sentence):
        return False
    head, _, rest = _TITLE.sub("", sentence).partition(" ")
    theirs = bool(rest) and head.lower().removesuffix("'s") in known
    mine = _FIRST_PERSON.search(sentence, 0, _SUBJECT_WITHIN) is not None or _AS_OBJECT.search(sentence) is not None
    return (mine or theirs or names_who_must_avoid(sentence)) and not _PRONOUN_START.match(sentence)


def _has_content(sentence: str, meaning: Meaning) -> bool:
    solid = [word for word in meaning.order if word not in _HOLLOW]
    words = _EXPLETIVE.sub("", meaning.plain).split()
    vague = next((index for index, word in enumerate(words) if word in _VAGUE), None)
    if vague is None or vague >= _VAGUE_WITHIN:
        return bool(solid) and not _ends_vaguely(sentence)
    return False


_VAGUE_END = re.compile(r"\b(?:it|that|this|them|there|so|too|one|those|these)$", re.IGNORECASE)


def _ends_vaguely(sentence: str) -> bool:
    return _VAGUE_END.search(sentence) is not None and len(sentence.split()) < 8
