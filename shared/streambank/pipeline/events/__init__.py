"""Events of streams: ingesting them, sealing their windows, and telling operators their state."""
