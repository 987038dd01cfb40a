"""Each function may touch the items that it touches on a day in a shop. The emulator knows no
leading keys, so a missing one would be seen on AWS only."""

from contextlib import ExitStack
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Any
from unittest import mock

from chalicelib import settings
from chalicelib.nightly import check, pictures
from chalicelib.orders import store as orders
from chalicelib.storage.table import put
from infra import steps
from tests.infra.test_templates import listed, statements
from tests.orders.build import placed
from tests.stock.build import fanned_out
from tests.support import examples
from tests.support.dynamodb_double import Double
from tests.support.dynamodb_partition import needs
from tests.support.job_desk import JobDesk

HANDLERS = {
    "chalicelib.imports.steps.plan.plan_upload": "plan_import",
    "chalicelib.imports.steps.run.batch": "import_chunk",
    "chalicelib.jobs.run.batch": "run_job",
    "chalicelib.outbox.fan_out.handle": "fan_out",
    "chalicelib.webhooks.deliver.batch": "deliver",
    "chalicelib.webhooks.redrive.run": "redrive",
    "chalicelib.nightly.check.check_totals": "check_counts",
    "chalicelib.nightly.pictures.delete_unused": "check_counts",
    "chalicelib.files.render.render_uploads": "render_file",
}


class Roles:
    """Notes what a function asks of the tables and may not do."""

    def __init__(self, double: Double) -> None:
        self.double = double
        self.asked: set[tuple[str, str]] = set()
        self.refused: set[tuple[str, str, str]] = set()
        self._granted = [one for one in statements() if "Resource" in one[1]]

    def handler(self, path: str) -> Any:
        module, _, name = path.rpartition(".")
        do, function = getattr(import_module(module), name), HANDLERS[path]

        def handle(*event: Any, **more: Any) -> Any:
            self.double.faults = lambda operation, request: self._note(function, operation, request)
            try:
                return do(*event, **more)
            finally:
                self.double.faults = lambda operation, request: None

        return mock.patch(path, handle)

    def _note(self, function: str, operation: str, request: Any) -> None:
        for action, table, keys in needs(operation, request):
            self.asked.add((function, action))
            if not self._may(function, action, table, keys):
                self.refused.add((function, action, " ".join(sorted(set(keys)))))

    def _may(self, function: str, action: str, table: str, keys: list[str]) -> bool:
        """AWS's `ForAllValues:StringLike`: all keys of a call are in one statement."""
        name = "Outbox" if table == settings.outbox_table() else "Table"
        for role, statement in self._granted:
            condition = statement.get("Condition", {}).get("ForAllValues:StringLike", {})
            patterns = condition.get("dynamodb:LeadingKeys", ["*"])
            if (
                steps.ROLES[function] == f"{role}Arn"
                and f"dynamodb:{action}" in listed(statement["Action"])
                and {"Fn::GetAtt": [name, "Arn"]} in listed(statement["Resource"])
                and all(any(fnmatchcase(key, one) for one in patterns) for key in keys)
            ):
                return True
        return False


def test_each_function_may_touch_what_it_touches() -> None:
    with examples.day(examples.Day) as day, ExitStack() as patches:
        roles = Roles(day.world.double)
        for path in HANDLERS:
            patches.enter_context(roles.handler(path))
        examples.walk(day)
        fanned_out(day.world.double)
        check.check_totals()
        pictures.delete_unused()
    assert roles.refused == set()
    assert {function for function, _ in roles.asked} == set(HANDLERS.values())


def test_an_import_may_count_what_the_storefront_offers() -> None:
    rows = "sku,name,price,status,published,vendor,type\nCUP,Cup,5,ACTIVE,true,Acme,cups\n"
    with examples.day(examples.Day) as day, ExitStack() as patches:
        roles = Roles(day.world.double)
        for path in HANDLERS:
            patches.enter_context(roles.handler(path))
        job = day.upload("menu.csv", rows)
    assert (job["status"], job["created"]) == ("COMPLETED", 1)
    assert roles.refused == set()


def test_an_import_may_take_pictures_that_were_unused() -> None:
    with examples.day(examples.Day) as day, ExitStack() as patches:
        roles = Roles(day.world.double)
        for path in HANDLERS:
            patches.enter_context(roles.handler(path))
        shirt = examples._catalogue(day)
        url = examples._pictures(day, shirt)["sizes"]["large"]
        day.admin("PUT", f"/products/{shirt['id']}", {"images": []})
        pictures.delete_unused()
        job = day.upload("a.csv", f"slug,name,price,image url\ncup,Cup,5,{url}\n")
    assert (job["status"], job["created"]) == ("COMPLETED", 1)
    assert ("import_chunk", "UpdateItem") in roles.asked and roles.refused == set()


def test_an_erasure_may_remove_words_of_failed_writes(jobs: JobDesk) -> None:
    """No other job checks an item that it does not write."""
    person = placed(jobs.shop)["customer"]
    pk = orders.RECORDS.kind.word_pk("lovelace", 0)
    put({"pk": pk, "sk": "lovelace#2023+abc#ord_never", "at": 1_700_000_000})
    roles = Roles(jobs.dynamodb)
    with roles.handler("chalicelib.jobs.run.batch"):
        jobs.done(f"/api/admin/customers/{person['id']}/erase")
    assert roles.refused == set()
    assert "ConditionCheckItem" in {action for _, action in roles.asked}
