"""The console: pages beside the user that show a service from events to memories, through `streambank_client` alone."""
