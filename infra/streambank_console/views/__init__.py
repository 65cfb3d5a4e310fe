"""What the pages show, computed from the client's replies: no I/O, no clock, no browser."""
