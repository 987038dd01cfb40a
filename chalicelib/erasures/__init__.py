"""Erasing a customer: `routes` starts a job, `work` does it, `store` keeps the person's texts until
it ends."""
