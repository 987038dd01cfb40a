"""Webhooks on the double: `receiver` takes deliveries, `tls_floods` and `name_server` misbehave."""
