"""Composition roots, one module a function family: they read the environment, build clients and know the clock."""
