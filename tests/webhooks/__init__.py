"""Webhooks on the double. `receiver` accepts deliveries, or attacks."""
