"""The API key of a server of models, read when it is first needed and kept for the process."""

from __future__ import annotations

from threading import Lock

from botocore.exceptions import BotoCoreError, ClientError

from streambank.errors import ModelNotConfigured, ModelUnavailable
from streambank.settings import OpenAiSettings
from streambank.wiring.deployment import client

# Where these are the cause, trying again soon does not help.
_CONFIGURATION_ERRORS = frozenset(
    {"AccessDeniedException", "InvalidKeyId", "ParameterNotFound", "ParameterVersionNotFound", "ValidationException"}
)


class ModelKey:
    """The key in the settings, else the one that a parameter of Systems Manager holds."""

    def __init__(self, settings: OpenAiSettings) -> None:
        self._parameter = settings.key_parameter
        self._lock = Lock()
        self._key: str | None = settings.key or (None if settings.key_parameter else "")

    def __call__(self) -> str:
        """Return the key, or nothing where there is none.

        Raises:
            ModelNotConfigured: the parameter does not exist, or may not be read.
            ModelUnavailable: Systems Manager did not answer.
        """
        with self._lock:
            if self._key is None:
                self._key = self._read()
            return self._key

    def _read(self) -> str:
        try:
            reply = client("ssm").get_parameter(Name=self._parameter, WithDecryption=True)
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            kind = ModelNotConfigured if code in _CONFIGURATION_ERRORS else ModelUnavailable
            raise kind(f"the parameter with the API key cannot be read: {code}") from None
        except BotoCoreError as error:
            raise ModelUnavailable(f"the parameter with the API key cannot be read: {type(error).__name__}") from None
        return str(reply["Parameter"]["Value"]).strip()
