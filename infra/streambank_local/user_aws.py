"""The user's own AWS credentials and region, for the one client in local mode that calls AWS: Bedrock's."""

import os
from dataclasses import dataclass, replace

import boto3
from botocore.exceptions import ProfileNotFound
from moto.core.models import botocore_stubber

from streambank.settings import ModelSettings
from streambank.wiring.models import BedrockModels, bedrock_client

ENDPOINT = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"
# What is not in the emulator may be a server of the user's own.
OWN_ENDPOINTS = (ENDPOINT, "AWS_ENDPOINT_URL_COMPREHEND")
_BEARER_TOKEN = "AWS_BEARER_TOKEN_BEDROCK"  # noqa: S105  the name of a variable


@dataclass(frozen=True)
class UserAws:
    """A session that was loaded before the emulator replaced the environment."""

    session: boto3.Session
    region: str

    @classmethod
    def load(cls) -> "UserAws":
        """Return the session of the environment as it is now, with its profile, its credentials and its region.

        Raises:
            ValueError: there are no credentials, no such profile, or no region.
        """
        profile = os.environ.get("AWS_PROFILE") or os.environ.get("AWS_DEFAULT_PROFILE")
        try:
            session = boto3.Session(profile_name=profile)
        except ProfileNotFound as error:
            raise ValueError(str(error)) from None
        _ = session.available_profiles  # the session keeps the files as they are now, before the environment is another
        region = os.environ.get("BEDROCK_REGION") or os.environ.get("AWS_REGION") or session.region_name
        if not (os.environ.get(_BEARER_TOKEN) or session.get_credentials()):
            raise ValueError(f"STREAMBANK_MODEL=bedrock needs AWS credentials, or {ENDPOINT} for a server of your own")
        if not region:
            raise ValueError("STREAMBANK_MODEL=bedrock needs an AWS region: set AWS_REGION")
        return cls(session, region)

    def models(self, settings: ModelSettings) -> BedrockModels:
        """Return Bedrock's models for this session, whose requests the emulator does not answer."""
        # For its credentials too: a role is assumed, and a token renewed, by clients of the same session.
        self.session.events.unregister("before-send", botocore_stubber)
        settings = replace(settings, region=settings.region or self.region)
        return BedrockModels(bedrock_client(settings, self.session), settings)
