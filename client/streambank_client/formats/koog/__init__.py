"""Koog's messages as JSON, in the two versions of its format."""
