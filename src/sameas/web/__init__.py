"""The web pages: review of links, and the reconciliation service."""
