"""Erasures, exports and imports: jobs that are done in steps, by calls and by the sweep."""
