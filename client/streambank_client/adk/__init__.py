"""A memory service for Google's Agent Development Kit (requires `google-adk`)."""

from streambank_client.adk.memory_service import StreambankMemoryService

__all__ = ["StreambankMemoryService"]
