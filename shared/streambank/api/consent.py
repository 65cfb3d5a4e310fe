"""The consent of a scope: whether anything is learnt about it."""

from __future__ import annotations

from streambank.api.api_request import ApiRequest
from streambank.api.route import Routes
from streambank.model.consent import Learning
from streambank.model.principal import Role
from streambank.pipeline.consent import set_learning
from streambank.rules import access
from streambank.wire import consent as wire
from streambank.wire import parameters
from streambank.wire.consent import Consent, ConsentRequest

routes = Routes()


@routes.get(
    "/consent",
    "getConsent",
    "Returns whether anything is learnt about a scope.",
    parameters=(parameters.SCOPE,),
)
def get_consent(request: ApiRequest) -> Consent:
    """Return the consent of a scope, also of one that nothing was ever stored for."""
    scope = wire.scope_of(request.query.get("scope"))
    access.check_scope(request.principal, scope)
    return wire.consent(scope, request.stores.consents.find(request.bank().id, scope).consent)


@routes.patch(
    "/consent",
    "updateConsent",
    "Sets whether anything is learnt about a scope.",
    role=Role.EDIT,
)
def update_consent(request: ApiRequest, body: ConsentRequest) -> Consent:
    """Set a scope to learn nothing, or to learn again."""
    access.check_scope(request.principal, body.scope)
    after = set_learning(
        request.bank().id,
        body.scope,
        Learning(body.learning),
        consents=request.stores.consents,
        banks=request.stores.banks,
        retry_policy=request.wiring.deployment.retry_policy,
        now=request.wiring.now(),
    )
    return wire.consent(body.scope, after)
