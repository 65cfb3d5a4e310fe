"""A synthetic corpus of sessions with long turns, always the same, and rankings of it at any weight of neighbours."""

import random
from dataclasses import replace
from datetime import timedelta

from streambank.model import ids
from streambank.model.search import RawEvent
from streambank.model.stream import StreamId
from streambank.rules import bm25, citations, search_ranking
from streambank.rules.search_ranking import EmbeddedQuery
from tests.rules.building import NOW, SCOPE, stored

SESSIONS, TURNS, SUBJECTS = 20, 8, 30
# Each subject is talked about in so many sessions; a turn about it has each of its words one to three times.
SESSIONS_OF_A_SUBJECT = 6
MOST_MENTIONS = 3


def subject(number):
    """Return the words of a subject; a query for it is these words."""
    return [f"s{number}{letter}" for letter in "abc"]


def sessions(words_each):
    """Return the events of all sessions; a turn has *words_each* common words, and those of its subjects."""
    chance = random.Random(11)
    turns = [[_common_words(chance, words_each) for _ in range(TURNS)] for _ in range(SESSIONS)]
    for number in range(SUBJECTS):
        for session in chance.sample(range(SESSIONS), SESSIONS_OF_A_SUBJECT):
            chance.choice(turns[session]).extend(subject(number) * chance.randint(1, MOST_MENTIONS))
    return [event for number, texts in enumerate(turns) for event in _session(number, texts)]


def _common_words(chance, count):
    # Few words are frequent and many are rare, as in any language.
    return [f"w{int(chance.paretovariate(0.8))}" for _ in range(count)]


def _session(number, texts):
    stream = StreamId("default", ids.stream_key(SCOPE, f"session {number}"), SCOPE, f"session {number}")
    begun = NOW + timedelta(days=number)
    return [
        RawEvent(stream, 1, stored(seq, " ".join(words), time=begun + timedelta(minutes=seq)), is_pending=False)
        for seq, words in enumerate(texts, 1)
    ]


def entries(events):
    """Return the entries of *events* as a search has them, without vectors."""
    return search_ranking.event_entries(EmbeddedQuery("", b""), events, (), ())


def entries_at(weight, events):
    """Return the entries of *events* with their neighbours at one *weight*, however long a turn is."""
    words = {one.source: bm25.count_words(citations.event_line(one.event)) for one in events}
    return [replace(one, words=_with_neighbours(weight, one.item.source, words)) for one in entries(events)]


def _with_neighbours(weight, source, words):
    sid, seq = source
    beside = (words.get((sid, near), {}) for near in (seq - 1, seq + 1))
    return bm25.add_weighted(words[source], *((weight, other) for other in beside))


def sessions_touched(ranked_entries, first=5):
    """Return how many sessions the *first* hits for a subject are of, on average."""
    rankings = (search_ranking.rank(" ".join(subject(number)), ranked_entries) for number in range(SUBJECTS))
    return sum(len({item.stream.sid for _, item in hits[:first]}) for hits in rankings) / SUBJECTS
