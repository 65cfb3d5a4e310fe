"""Applying a bank's content policy to what comes in, before anything is stored."""
