"""HTTP shapes: both spellings in, camelCase out."""
