"""Sessions and chat histories."""
