"""How well a model remembers: the gold set, played through the whole service with the model that is configured.

`python -m benchmarks.evaluation` (`make eval`) prints precision, recall and the wrong cases. The cases are data in
`tests/gold/cases`; the README there explains their fields.
"""
