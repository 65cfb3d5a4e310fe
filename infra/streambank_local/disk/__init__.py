"""The folder in which local mode keeps its state."""
