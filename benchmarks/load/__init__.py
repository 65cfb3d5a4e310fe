"""Load on local mode: how it holds up under many callers, and whether anything was lost or doubled at the end.

What a laptop's emulator takes for a call says little about AWS, so times are told as multiples of an idle call's.
"""
