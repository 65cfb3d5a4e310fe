"""Patterns of statements that set an attribute with one value at a time."""

from __future__ import annotations

import re

from streambank_local.basic.other_languages import OTHER_LANGUAGES

_ATTRIBUTES = (
    r"(?:\w+ )?(?:team|size|bedtime|address|number|bank|gym|school|university|college|major|salary|budget|weight|height"
    r"|hometown|home town|nationality|religion|native language|mother tongue|first language|blood type|star sign"
    r"|zodiac sign|wifi|password|pin|email|birthday|anniversary|job|title|job title|employer|company|age|surname"
    r"|last name|first name|middle name|nickname|pronouns|phone|phone number|time zone|timezone|handle|username|goal"
    r"|commute|diet|major|hobby|postcode|zip code|eye color|hair color|seat|currency|unit|landlord|dosage|dose|rent"
    r"|income|mortgage|browser|operating system|position|role|department|bmi|blood pressure|license plate|iban)"
)
# "My car is red" and "my flight is late" set no value: a thing has a kind, an appointment has a time.
_THINGS = r"(?:\w+ )?(?:car|bike|bicycle|laptop|computer|phone|plan)"
_APPOINTMENTS = r"(?:\w+ )?(?:deadline|due date|start date|end date|appointment|exam|flight|interview|meeting)"
_TIME = (
    r"(?P<value>(?:the )?(?:\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|january|february|march|april|may|june|july"
    r"|august|september|october|november|december|noon|midnight|end of).*)"
)
JOBS = (
    r"(?:\w+ )?(?:\w+(?:ologist|ician|smith|wright|iatrist|pathist)|nurse|teacher|engineer|developer|programmer"
    r"|designer|lawyer|doctor|dentist|architect|plumber|carpenter|farmer|chef|cook|baker|waiter|waitress|driver|pilot"
    r"|journalist|writer|author|editor|artist|photographer|accountant|analyst|manager|director|consultant|scientist"
    r"|researcher|professor|student|midwife|surgeon|vet|veterinarian|librarian|clerk|cashier|secretary|butcher|barista"
    r"|bartender|soldier|officer|firefighter|therapist|counselor|translator|musician|actor|actress|dancer|beekeeper"
    r"|gardener|pharmacist|paramedic|judge|banker|broker|salesman|barber|hairdresser|tailor|mechanic|welder|builder"
    r"|contractor|entrepreneur|freelancer|receptionist|administrator|tester|founder|ceo|cto|pensioner|retiree)"
)
_DIETS = (
    r"(?:vegan|vegetarian|pescatarian|omnivore|carnivore|flexitarian|fruitarian|pescetarian|keto|meat eater"
    r"|gluten free|paleo|low carb|raw food)"
)
_STATUSES = r"(?:single|married|divorced|engaged|widowed|separated|dating|in a relationship)"
_MOVE = r"moved|relocated|moving|relocating|move"
_OBJECT = r"(?P<value>.+)"
_PLACES = (
    r"(?:\w+ )?(?:office|shop|store|studio|lab|laboratory|factory|warehouse|hospital|school|bank"
    r"|bakery|restaurant|library|clinic|garage|workshop|kitchen|space|hotel|farm|pharmacy|mall|museum)"
)
_PROVIDERS = (
    r"(?:gym|bank|school|dentist|doctor|therapist|insurance|provider|carrier|hairdresser|landlord|lawyer|accountant"
    r"|pharmacy|vet|coach|tutor|employer|browser|club|physio|mechanic)"
)
_SETS = (
    r"raised|lowered|changed|increased|reduced|cut|set|moved|updated|bumped|pushed(?: back)?|extended|postponed"
    r"|rescheduled|shifted|switched|upped"
)
_STAYS = r"(?=$| ,| (?:because|since|instead|but|and i)\b)"
# Key and pattern. {0} in a key stands for the group "of"; an empty value does not count.
PATTERNS = tuple(
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
        (
            "residence",
            (
                rf"^(?:i|we) (?:not )?(?:have )?(?:am |are )?(?:live|living|{_MOVE}) (?:in|to|into) (?:an?|the|my|our) "
                rf"(?:[\w-]+ ){{0,2}}?(?:apartment|house|place|studio|room|cottage|condo|villa|home) "
                rf"(?:in|near) {_OBJECT}"
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
        ("job", r"^i (?:(?:am|have|got|am getting) )?(?P<value>retired|unemployed)\b"),
        ("job", r"^i (?:have )?(?:lost|quit|left|resigned from) my (?P<value>job)$"),
        (
            "workplace",
            rf"^i (?:not )?(?:am )?(?:work|working) (?:from|at) (?:my )?(?P<value>home(?: office)?){_STAYS}",
        ),
        (
            "workplace",
            (
                r"^i (?:not )?(?:am )?(?:work|working) (?:(?:at|from) (?:the|our|an) (?=office)|in (?:an?|the|our"
                rf"|my) )(?P<value>{_PLACES}){_STAYS}"
            ),
        ),
        (
            "employer",
            rf"^i (?:not )?(?:am )?(?:started )?(?:work|working) (?:at|for) (?!home|night|the moment){_OBJECT}",
        ),
        ("employer", rf"^i (?:got|have|started|took) a (?:new )?job (?:at|with) {_OBJECT}"),
        ("employer", rf"^i (?:am )?(?:not )?employed (?:by|at|with) (?!a |an |my ){_OBJECT}"),
        ("diet", rf"^i (?:have )?(?:am|became|become|went|turned|been|eat) (?:not )?(?:an? )?(?P<value>{_DIETS})\b"),
        ("diet", r"^i (?:started )?(?:eat|eating) (?P<value>meat)(?: again)?$"),
        (
            "diet",
            (
                r"^i (?:am on|follow|started|(?:switched|changed) (?:from .+ )?to) (?:an? |the )?"
                rf"(?P<value>{_DIETS})(?: diet)?\b"
            ),
        ),
        ("age", r"^i (?:am|turned|will be|am turning) (?P<value>\d{1,3})(?: years old)?(?:$| ,| and| as| in| on)"),
        ("relationship", rf"^(?:my )?(?:\w+ ){{1,2}}and i (?:have )?(?:are|got|became) (?P<value>{_STATUSES})\b"),
        (
            "relationship",
            rf"^(?:i|we) (?:not )?(?:have )?(?:am|are|got|became|been|am getting) (?:not )?(?P<value>{_STATUSES})\b",
        ),
        ("birthday", rf"^i was born on {_OBJECT}"),
        ("car", rf"^i (?:not )?(?:have )?drive (?:an?|the|my) {_OBJECT}"),
        ("team", rf"^i (?:not )?(?:support|root for) (?!my |the |our |an? |her |him |them |it ){_OBJECT}"),
        ("phone number", r"^my (?:phone|cell|work phone)(?: phone)?(?: number)? is (?P<value>\W*\d.+)"),
        ("phone number", r"^my (?:new |current )?number is (?P<value>\W*\d.+)"),
        ("phone number", r"^my (?:phone )?number (?:has |have )?changed (?:, |to |it is )*(?P<value>\W*\d.+)"),
        ("phone number", r"^(?:i|we) (?:have|got) a new (?:phone )?number (?:, |is )*(?P<value>\W*\d.+)"),
        (
            "{0} siz",
            (
                r"^i (?:wear|have|take|need) (?:an? )?size (?P<value>\w+) "
                r"(?:in )?(?P<of>shoes?|shirts?|dress|trousers|jeans)"
            ),
        ),
        ("{0} siz", r"^i (?:wear|have|take|need) (?:an? )?(?P<of>shoe|shirt|dress|trouser|jeans) size (?P<value>\w+)"),
        (
            "school",
            (
                r"^i (?:not )?(?:go|attend|am|start|started|moved|switched|changed) (?:to |at )?"
                r"(?!to |at |in |the |an? |my )"
                r"(?P<value>(?:[\w'.-]+ ){1,4}?(?:school|kindergarten|university|college|academy|gymnasium|nursery))\b"
            ),
        ),
        (
            "{0}",
            rf"^(?:i|we) (?:{_SETS}) (?:my|our|the) (?P<of>{_ATTRIBUTES}|{_APPOINTMENTS}) (?:from .+? )?to {_OBJECT}",
        ),
        (
            "{0}",
            (
                rf"^(?:my|our) (?P<of>{_ATTRIBUTES}|{_APPOINTMENTS}) (?:(?:was|got|has been|have been|is) )?"
                rf"(?:{_SETS}) (?:from .+? )?to {_OBJECT}"
            ),
        ),
        (
            "{0}",
            (
                rf"^(?:i|we) (?:go to|have|got|found|joined|use) (?:an? |my |the )?new (?P<of>{_PROVIDERS}) "
                rf"(?:, |called |named )+{_OBJECT}"
            ),
        ),
        (
            "{0}",
            (
                rf"^(?:i|we) (?:switched|changed|swapped) (?:my )?(?P<of>{_PROVIDERS})s? (?:from .+? )?"
                rf"(?:to |, (?:and )?i am (?:at|with) |and am (?:at|with) ){_OBJECT}"
            ),
        ),
        ("email", r"^my (?:\w+ )?email(?: address)? is (?P<value>\S+@\S+)"),
        ("routine {0}", r"^i (?P<of>wake up|get up|go to bed|go to sleep|start work|finish work) at (?P<value>.+)"),
        *OTHER_LANGUAGES,
        ("weight", r"^i weigh (?P<value>\d.+)"),
        ("{0}", rf"^(?:my|our) (?:new |current )?(?P<of>{_ATTRIBUTES}) (?:is|are) (?:on )?{_OBJECT}"),
        ("{0}", rf"^(?:my|our) (?:new |current )?(?P<of>{_THINGS}) is (?:an?|the) {_OBJECT}"),
        ("{0}", rf"^(?:my|our) (?:new |current )?(?P<of>{_APPOINTMENTS}) is (?:on |at |by )?{_TIME}"),
        ("count {0}", r"^(?:i|we) have (?P<value>\d+|no|two|three|four|five|six|seven|eight|nine|ten) (?P<of>\w+)$"),
    )
)
