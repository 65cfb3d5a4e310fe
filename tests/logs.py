"""What the service's logger writes, as it writes it."""

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from streambank import telemetry


@contextmanager
def written() -> Iterator[io.StringIO]:
    """Yield what fills with the lines that are logged meanwhile, in the service's own format."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(telemetry.LOGGER.registered_formatter)
    logger = logging.getLogger(telemetry.LOGGER.name)
    logger.addHandler(handler)
    try:
        yield stream
    finally:
        logger.removeHandler(handler)
