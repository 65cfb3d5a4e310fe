"""The whole service in a storm of faults, and what must hold when it has passed."""
