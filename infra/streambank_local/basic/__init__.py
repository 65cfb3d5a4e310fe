"""Models that need no network: "basic", for trying things out and for tests. Never in the production layer."""
