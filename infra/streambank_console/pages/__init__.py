"""The pages: each loads what it shows, and makes elements of its view."""
