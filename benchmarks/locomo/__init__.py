"""Evidence recall on LoCoMo: the share of the turns that answer a question among the results of a search.

LoCoMo (Maharana et al., 2024; CC BY-NC 4.0) is not part of this project: get `locomo10.json` from its authors'
repository, snap-research/locomo, and name the file. Nothing of it is stored.
"""
