"""The cost of a bank's model calls."""

from __future__ import annotations

from streambank.api.api_request import ApiRequest
from streambank.api.route import Reach, Routes
from streambank.rules.bank_config import bank_config
from streambank.wire import parameters
from streambank.wire import usage as wire
from streambank.wire.usage import UsageReport

routes = Routes()


@routes.get(
    "/usage",
    "getUsage",
    "Returns the cost of the bank's model calls, day by day.",
    reach=Reach.ALL_SCOPES,
    parameters=(parameters.START_DATE, parameters.END_DATE),
)
def get_usage(request: ApiRequest) -> UsageReport:
    """Return what a bank's model calls cost on each day."""
    now = request.wiring.now()
    first, last = wire.days(request.query, now.date())
    bank_id = request.bank().id
    config = bank_config(request.stores.banks.document(bank_id))
    report = request.wiring.token_budget.report(bank_id, config, first, last, now=now)
    return wire.usage_report(report.days, report.daily_tokens, report.tokens_today)
