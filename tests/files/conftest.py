from collections.abc import Callable
from datetime import timedelta

import pytest

from chalicelib import settings
from chalicelib.aws import client
from chalicelib.values import clock
from tests.files.build import Darkroom
from tests.support.dynamodb_double import Double
from tests.support.job_desk import JobDesk
from tests.support.shop import Shop


@pytest.fixture
def darkroom(aws: Double, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Darkroom:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    return Darkroom(shop, aws)


@pytest.fixture
def studio(jobs: JobDesk) -> Darkroom:
    """A shop with pictures, jobs and imports."""
    client("s3").delete_bucket(Bucket=settings.bucket())  # which a Darkroom makes
    return Darkroom(jobs.shop, jobs.dynamodb)


@pytest.fixture
def after(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets some time pass."""
    now, unix, passed = clock.now, clock.unix, timedelta()

    def pass_time(**much: float) -> None:
        nonlocal passed
        passed += timedelta(**much)
        monkeypatch.setattr(clock, "now", lambda: now() + passed)
        monkeypatch.setattr(clock, "unix", lambda: unix() + int(passed.total_seconds()))

    return pass_time
