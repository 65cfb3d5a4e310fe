"""A `BaseStore` of LangGraph over a bank; needs `langgraph`."""

from streambank_client.langgraph.store import StreambankStore

__all__ = ["StreambankStore"]
