"""The command `streambank`: local mode, and a service of any kind from a terminal."""
