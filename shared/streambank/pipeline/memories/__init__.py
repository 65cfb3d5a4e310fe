"""Memories: reading, searching, changing and deleting them."""
