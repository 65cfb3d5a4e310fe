"""Content policies: detectors, and what they do to texts. It imports RE2, so only what has a policy imports it."""
