"""Erasures, exports, imports and reindexes: jobs that are done in steps, by calls and by the sweep."""
