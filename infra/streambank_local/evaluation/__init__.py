"""How well a model remembers: the gold set, played through the whole service with the model that is configured.

`streambank eval` (`make eval`) prints precision, recall and the wrong cases. The cases are data in `gold/`; the README
there explains their fields.
"""
