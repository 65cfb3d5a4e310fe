"""Marker words: each stands in one sentence alone, so that whoever shows it shows where it is from."""

import random
import re

_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"
_WORD = re.compile(f"xo(?:[{_CONSONANTS}][{_VOWELS}]){{4}}")

# The basic model remembers each of these as it stands, without its full stop, beside any number of the same form.
FORMS = ("I own a {}.", "I like {}.", "I play the {}.", "I keep a {} in my kitchen.", "I am learning {}.")


class Words:
    """New marker words, none twice."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.made: set[str] = set()

    def word(self) -> str:
        while True:
            word = "xo" + "".join(self._rng.choice(_CONSONANTS) + self._rng.choice(_VOWELS) for _ in range(4))
            if word not in self.made:
                self.made.add(word)
                return word

    def sentence(self) -> str:
        return self._rng.choice(FORMS).format(self.word())


def words_in(text: str) -> set[str]:
    return set(_WORD.findall(text))


def fact_of(sentence: str) -> str:
    """Return the memory that the basic model makes of *sentence*."""
    return sentence.removesuffix(".")
