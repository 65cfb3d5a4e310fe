"""Changes of memories, sent from local mode to a webhook or to standard output."""
