"""Evidence recall on LoCoMo: which share of the turns that answer a question a search brings up.

LoCoMo (Maharana et al., 2024; CC BY-NC 4.0) is not part of this project: get `locomo10.json` from its authors'
repository, snap-research/locomo, and name the file. Nothing of it is kept.
"""
