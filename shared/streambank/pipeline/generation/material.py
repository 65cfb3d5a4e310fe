"""What candidates are judged by: the memories of their scope, its requests to forget, and what a model was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streambank.model.bank import BankConfig
from streambank.model.consent import Learning
from streambank.model.memory import Memory
from streambank.model.plan import Candidate, Extracted, ForgetRequest
from streambank.model.tombstone import Tombstone
from streambank.model.window import Window
from streambank.pipeline.memories.scope_reader import MAX_NEAREST, NearText, Needed
from streambank.rules import nearness, ranking
from streambank.rules.consolidation import is_forget_request
from streambank.store.scope_view import ScopeView

# How many memories near each fact are read of a large scope; a model is offered ten of them. A request to forget may be
# about many more.
NEAR_CANDIDATE = 20


@dataclass(frozen=True, slots=True)
class Material:
    """What a window's candidates are judged by: *memories*, *profiles* and *requests* of the scope.

    *read* maps the id of each memory that the model was given with the turns to its fingerprint then.
    """

    window: Window
    config: BankConfig
    memories: Sequence[Memory]
    profiles: Sequence[Memory]
    requests: Sequence[ForgetRequest]
    read: Mapping[str, str]

    @classmethod
    def of(
        cls,
        window: Window,
        config: BankConfig,
        memories: Sequence[Memory],
        requests: Sequence[ForgetRequest],
        read: Mapping[str, str],
    ) -> Material:
        """Return the material of *window*, of all *memories* of its scope those that it may touch."""
        natural = ranking.eligible([memory for memory in memories if not memory.profile], window.settings)
        return cls(window, config, natural, [memory for memory in memories if memory.profile], requests, read)


def needed(candidates: Sequence[Candidate], extracted: Extracted) -> Needed:
    """Return the memories that *candidates* are judged by: those near them, and those that a model was given."""
    near = [NearText(one.fact, one.vector, _count(one)) for one in searched(candidates)]
    named = [name for one in candidates for name in one.memory_ids]
    return Needed(near, [*named, *extracted.offered], profiles=has_profiles(candidates))


def _count(candidate: Candidate) -> int:
    return MAX_NEAREST if is_forget_request(candidate) else NEAR_CANDIDATE


def offered(
    candidates: Sequence[Candidate], material: Material, left: Sequence[Tombstone], view: ScopeView
) -> dict[str, str]:
    """Return the marks of all that a plan for *candidates* depends on: where they are the same, it is still valid."""
    concerned = [
        *_concerned(searched(candidates), material.memories),
        *(material.profiles if has_profiles(candidates) else []),
    ]
    offered = {memory.id: memory.fingerprint for memory in concerned}
    offered |= {f"tombstone {one.memory_id}": one.at.isoformat() for one in left[:1]}
    offered |= {} if is_learnt(view) else {"learning": view.consent.learning.value}
    return offered | {f"forget {one.sid}-{one.window}-{one.number}": one.at.isoformat() for one in view.requests}


def is_learnt(view: ScopeView) -> bool:
    return view.consent.learning is Learning.ENABLED


def searched(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that a model judges."""
    return [one for one in candidates if one.is_searched]


def _concerned(candidates: Sequence[Candidate], memories: Sequence[Memory]) -> list[Memory]:
    """Return the memories that a model may be given for *candidates*: named by them, close to them, or nearest."""
    named = [memory for memory in memories if any(memory.id in one.memory_ids for one in candidates)]
    close = [memory for one in candidates for memory in nearness.close_to(one, memories)]
    return [*named, *close, *ranking.nearest_to_candidates(candidates, memories)]


def has_profiles(candidates: Sequence[Candidate]) -> bool:
    return any(one.profile and not one.rejected for one in candidates)
