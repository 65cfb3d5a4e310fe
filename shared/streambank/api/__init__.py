"""The HTTP API: each route is declared once, beside the function that answers it."""
