"""The service's operations: each module reads and writes through the stores, decides by the rules, and calls models."""
