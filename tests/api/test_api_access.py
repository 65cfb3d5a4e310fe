"""What a caller that is bound to a user may not reach by a route that its own scope opens."""

from dataclasses import replace

import pytest

from streambank.errors import NotFound, PermissionDenied
from streambank.model.principal import Principal, Role, operator
from tests import aws

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
