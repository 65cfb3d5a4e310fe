"""Generated requests against the whole service on this machine."""
