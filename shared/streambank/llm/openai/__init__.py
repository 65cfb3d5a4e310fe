"""Any server that speaks OpenAI's chat completions and embeddings, behind the ports."""
