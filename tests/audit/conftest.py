from tests.jobs.conftest import jobs

__all__ = ["jobs"]
