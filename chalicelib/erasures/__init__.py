"""Forgetting a customer: `routes` starts a job, `work` does it, `store` keeps what is looked for
while it does."""
