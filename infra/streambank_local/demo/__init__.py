"""A conversation over five weeks, played through a local service in seconds."""
