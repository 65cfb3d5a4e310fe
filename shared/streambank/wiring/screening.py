"""What content policies are applied with in a deployment."""

from __future__ import annotations

from functools import partial

import boto3

from streambank.model.usage import Usage
from streambank.pipeline.screening.screening import Screenings
from streambank.rules.content_policy.spans import BilledService
from streambank.settings import COMPREHEND, Settings
from streambank.store.usage import UsageStore
from streambank.wiring.deployment import CLIENT_CONFIG, Deployment, client


def screenings(deployment: Deployment) -> Screenings:
    """Return the screenings of a deployment; what its service bills is booked on the present day."""
    usage = UsageStore(deployment.table)

    def count(bank: str, units: int) -> None:
        usage.add(bank, deployment.now().date(), Usage(personal_data_calls=1, personal_data_units=units))

    return Screenings(_service(deployment.settings), count)


def _service(settings: Settings) -> BilledService | None:
    """Return the service for personal data, or None; its client is built when a policy needs it for the first time."""
    name = settings.personal_data_detector
    if not name:
        return None
    # Imported here: most deployments have no such service, and this is a part of the function `Ingest`.
    from streambank.llm.personal_data.services import Comprehend, Guardrail  # noqa: PLC0415

    if name == COMPREHEND:
        return Comprehend(lambda: client("comprehend")).spans
    models = settings.models
    build = partial(boto3.client, "bedrock-runtime", region_name=models.region or None, config=CLIENT_CONFIG)
    return Guardrail(build, name, models.guardrail_version).spans
