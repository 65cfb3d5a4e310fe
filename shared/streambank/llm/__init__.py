"""Ports to language models and embedders, and their adapters."""
