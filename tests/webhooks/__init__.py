"""Webhooks on the double. `receiver` accepts deliveries; `tls_floods` attack."""
