"""An import into a table that throttles."""

from itertools import count

from tests.support.dynamodb_double import Fault
from tests.support.import_desk import Desk
from tests.support.shop import Shop


def test_an_import_completes_and_makes_each_product_once(desk: Desk) -> None:
    rows = "".join(f"p{n},P{n},{n + 1}\n" for n in range(60))
    job_id = desk.send(f"slug,name,price\n{rows}")
    desk.uploaded(job_id)
    calls = count()
    desk.dynamodb.faults = lambda operation, request: Fault.THROTTLE if next(calls) % 5 else None
    desk.work()
    desk.dynamodb.faults = lambda operation, request: None
    job = desk.job(job_id)
    assert (job["status"], job["created"], job["failed"]) == ("COMPLETED", 60, 0)
    assert Shop().get("/api/admin/products").json["total"] == 60
