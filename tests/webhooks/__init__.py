"""Webhooks on the double. `receiver` accepts deliveries; `tls_floods`, `name_server` attack."""
