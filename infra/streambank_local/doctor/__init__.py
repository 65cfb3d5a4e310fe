"""Checks of a running service: one event in, a memory out, and for each part that does not work its cure."""
