"""The generation of a window: its start, the states of its machine, its retries and its operation."""
