"""Load on local mode: latency under many callers, and whether anything was lost or doubled at the end.

The time of a call on a laptop's emulator says little about AWS, so times are also multiples of an idle call's.
"""
