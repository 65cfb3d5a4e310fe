"""Erasures, moves, exports, imports, reindexes and others: jobs that are done in steps, by calls and by the sweep."""
