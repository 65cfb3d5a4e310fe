"""What a caller that is bound to a user may not reach by a route that its own scope opens."""

from dataclasses import replace
from datetime import timedelta

import pytest

from streambank.errors import NotFound, PermissionDenied
from streambank.model.principal import Principal, Role, operator
from streambank.model.review import Review, ReviewAction, ReviewCause, ReviewedMemory
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.store.review_items import review_put
from tests import aws
from tests.api.routes import NOW

MINE = {"user_id": "mine"}
UNBOUND, BOUND = operator("test"), Principal("somebody", ("*",), frozenset(Role), MINE)


def call(api, caller, method, path, body=None):
    """Return the reply to *caller*."""
    api.wiring = replace(api.wiring, authenticate=lambda _event: caller)
    return api.call(method, path, body)


@pytest.mark.parametrize("beside", [{"userId": "theirs"}, {"conversationIds": ["c1"]}])
@pytest.mark.parametrize("is_dry_run", [True, False])
def test_an_erasure_of_ones_own_scope_takes_nothing_of_others_along(api, emulator, beside, is_dry_run):
    """Sessions of another user, and conversations, which have no scope, are forbidden; nothing is begun."""
    with pytest.raises(PermissionDenied):
        call(api, BOUND, "POST", "/default:eraseScope", {"scope": MINE, "dryRun": is_dry_run, **beside})
    assert not [item for item in aws.dump(emulator) if "erasing" in item]
    call(api, BOUND, "POST", "/default:eraseScope", {"scope": MINE, "dryRun": True, "userId": "mine"})
    call(api, UNBOUND, "POST", "/default:eraseScope", {"scope": MINE, "dryRun": True, **beside})


@pytest.mark.parametrize("job", ["export-1", "import-1", "reindex-1", "replay-1"])
def test_a_job_of_a_bank_is_for_the_unbound(api, job):
    """A caller that a scope binds is refused, whether or not there is such a job."""
    with pytest.raises(PermissionDenied):
        call(api, BOUND, "GET", f"/default/operations/{job}")
    with pytest.raises(NotFound):
        call(api, UNBOUND, "GET", f"/default/operations/{job}")


def test_another_users_session_is_no_other_than_one_that_was_deleted(api):
    """The operation of its deletion is done for a caller who may not know of it, and not there for one who may."""
    made = call(api, UNBOUND, "POST", "/default/sessions", {"userId": "theirs"})["response"]["name"]
    path = f"/default/sessions/{made.rsplit('/', 1)[1]}/operations/delete"
    nothing = call(api, BOUND, "GET", path.replace(made.rsplit("/", 1)[1], "nothing"))
    assert call(api, BOUND, "GET", path)["done"] is nothing["done"] is True
    with pytest.raises(NotFound):
        call(api, UNBOUND, "GET", path)


def waiting(api, scope):
    """Return the id of a review that waits in *scope*."""
    made = call(api, UNBOUND, "POST", "/default/memories", {"scope": scope, "fact": "Likes tea."})["response"]["name"]
    hashes = KeyedHashes.of_scope(api.wiring.id_secret, "default", scope)
    memory = ReviewedMemory(made.rsplit("/", 1)[1], hashes.of_text("Likes tea."))
    review = Review(
        id=f"{hashes.cid}-0{'a' * 26}",
        scope=scope,
        action=ReviewAction.DELETE,
        cause=ReviewCause.PINNED,
        created=NOW,
        expires=NOW + timedelta(days=90),
        at=NOW,
        memories=(memory,),
    )
    api.table.write(review_put("default", review))
    return review.id


def test_a_bound_caller_decides_the_reviews_of_its_own_scope_alone(api):
    """A caller sees and decides what waits in its scope; a reader decides nothing."""
    reader = replace(UNBOUND, roles=frozenset({Role.READ}))
    ids = {}
    for scope in (MINE, {"user_id": "theirs"}):
        key = waiting(api, scope)
        ids[scope["user_id"]] = key
        path = f"/default/memories:reviews/{key}:reject"
        with pytest.raises(PermissionDenied):
            call(api, reader, "POST", path)
    assert call(api, BOUND, "POST", f"/default/memories:reviews/{ids['mine']}:reject")["state"] == "REJECTED"
    for decision in ("accept", "reject"):
        with pytest.raises(NotFound):
            call(api, BOUND, "POST", f"/default/memories:reviews/{ids['theirs']}:{decision}")
