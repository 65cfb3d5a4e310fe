"""Random histories of several tenants over HTTP, against what the documents promise."""
