"""Streambank: long-term memory for agents, in your own AWS account."""

__version__ = "0.1.0"
