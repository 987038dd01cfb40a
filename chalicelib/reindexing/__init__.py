"""Moving all records to the index of the deployed code: a job that `infra/reindex.py` starts."""
