"""Requests nobody would send, against the whole service on this machine."""
