"""Services that find personal data in texts."""
