"""A server of the Model Context Protocol for the memories of one scope (requires `mcp`).

`python -m streambank_client.mcp` starts it.
"""
