"""Every change of a tracked quantity is one entry of the ledger, whatever way it comes and whatever
crashes."""

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib import listing
from chalicelib.ledger import store as ledger
from chalicelib.ledger.model import KIND, ShownMovement
from chalicelib.outbox import fan_out
from chalicelib.storage import table
from tests.customers.build import customer
from tests.orders.build import (
    ORDERS,
    before_the_commit,
    line,
    move_stock,
    placed,
    product,
    product_path,
    set_stock,
    variant,
    variants,
)
from tests.stock.build import MOVEMENTS, agrees, fanned_out, movements, moves_in, traced, walked
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.import_desk import Desk
from tests.support.job_desk import JobDesk
from tests.support.shop import Shop
from tests.support.webhook_events import stream

AUDIT = "/api/admin/audit"


def test_each_way_that_changes_a_quantity_is_an_entry(shop: Shop, dynamodb: Double) -> None:
    id = variant(shop, 10, name="Mug", sku="MUG")
    move_stock(shop, id, by=5, note="Delivery 7")
    order = placed(shop, line(id, 3))
    order.edit(change=[order.first_line(quantity=4)])
    order.moved("CANCELLED")
    sold = placed(shop, line(id, 2), paymentStatus="PAID")
    back = sold.first_line(quantity=1, restock=True)
    assert sold.refund(lines=[back]).status == 201
    sold.delete()
    for stock in (9, None, 2):
        set_stock(shop, id, stock)
    shop.delete(product_path(id))
    fanned_out(dynamodb)
    entries = movements(shop, variantId=id)
    assert moves_in(entries) == [
        *(("TRACKED", None, 10), ("MOVE", 5, 15)),
        *(("SALE", -3, 12), ("EDIT", -1, 11), ("RETURN", 4, 15)),
        *(("SALE", -2, 13), ("RETURN", 1, 14), ("RETURN", 1, 15)),
        *(("EDIT", -6, 9), ("UNTRACKED", None, None)),
        *(("TRACKED", None, 2), ("UNTRACKED", None, None)),
    ]
    orders = [None, *[order["id"]] * 3, *[sold["id"]] * 3, *[None] * 4]
    assert [one["orderId"] for one in entries[1:]] == orders
    assert (entries[1]["reason"], entries[1]["note"]) == ("RECEIVED", "Delivery 7")
    assert {one["note"] for one in entries[2:]} == {None}
    assert {one["title"] for one in entries} == {"Mug / V0"}
    assert {one["actor"]["keyName"] for one in entries} == {"a OWNER of the tests"}
    assert all(one["actor"]["keyId"].startswith("key_") for one in entries)
    assert all(one.keys() == ShownMovement.__annotations__.keys() for one in entries)
    assert agrees(shop) == 12


def test_the_entry_of_a_line_or_a_variant_that_an_edit_removed_has_its_name(
    shop: Shop, dynamodb: Double
) -> None:
    id, other = variant(shop, 5, name="Mug", sku="MUG"), variant(shop, 5)
    order = placed(shop, line(id, 2), line(other))
    order.edit(remove=[order["lineItems"][0]["id"]])
    fanned_out(dynamodb)
    last = movements(shop, variantId=id)[-1]
    assert (last["cause"], last["by"], last["title"]) == ("EDIT", 2, "Mug / V0")
    shop.put(product_path(id), {"variants": [{"title": "Large"}]})
    fanned_out(dynamodb)
    last = movements(shop, variantId=id)[-1]
    assert (last["cause"], last["title"]) == ("UNTRACKED", "Mug / V0")


def test_movements_are_found_by_what_they_are_about(shop: Shop, dynamodb: Double) -> None:
    made = product(shop, 5, 6)
    first, second = (one["id"] for one in made["variants"])
    order = placed(shop, line(first, 2), line(second, 1))
    placed(shop, line(first, 1))
    fanned_out(dynamodb)
    assert len(movements(shop, productId=made["id"])) == 5
    assert moves_in(movements(shop, orderId=order["id"], variantId=first)) == [("SALE", -2, 3)]
    assert len(movements(shop, cause="sale")) == 3
    assert movements(shop, cause="RETURN") == []
    (sale,) = movements(shop, orderId=order["id"], variantId=second)
    assert movements(shop, **{"from": sale["at"], "variantId": second})[-1] == sale
    assert movements(shop, to="2001-01-01") == []
    page = shop.get(f"{MOVEMENTS}?productId={made['id']}&limit=2").json
    assert (page["total"], len(page["data"])) == (5, 2)
    refused = shop.get(f"{MOVEMENTS}?cause=SOLD")
    assert refused.refused == ["cause.0"]
    assert shop.get(MOVEMENTS, key=shop.as_("READER")).status == 200


def test_a_total_is_counted_to_a_thousand(shop: Shop, dynamodb: Double) -> None:
    """So that a page costs the same with a million entries."""
    variant(shop, 5)
    fanned_out(dynamodb)
    shop.get(MOVEMENTS)
    queries = dynamodb.asked("Query")
    assert shop.get(f"{MOVEMENTS}?from=2001-01-01").json["total"] == 1
    read = [one.get("Limit", 100_000) for one in queries if one.get("Select") == "COUNT"]
    assert 0 < sum(read) <= 1_100


def test_imports_bulk_edits_and_undos_are_entries_with_their_job(shop: Shop, jobs: JobDesk) -> None:
    made = product(shop, 7, variants=[{"title": "Default", "sku": "MUG", "stock": 7}])
    (id,) = (one["id"] for one in made["variants"])
    order = placed(shop, line(id, 2))
    desk = Desk(shop, jobs.dynamodb)
    csv = f"slug,name,price,sku,stock\n{made['slug']},Mug,5.00,MUG,20\nnew,New,5.00,NEW,3\n"
    imported = desk.imported(csv)
    assert (imported["status"], imported["updated"], imported["created"]) == ("COMPLETED", 1, 1)
    change = {"ids": [order["id"]], "change": {"status": "CANCELLED"}}
    edit = jobs.done(f"{ORDERS}/bulk-edit", change)
    undo = jobs.done(f"/api/admin/jobs/{imported['id']}/undo")
    fanned_out(jobs.dynamodb)
    moves_of = {
        job["id"]: moves_in(movements(shop, jobId=job["id"])) for job in (imported, edit, undo)
    }
    assert sorted(moves_of[imported["id"]], key=str) == [("IMPORT", 15, 20), ("TRACKED", None, 3)]
    assert moves_of[edit["id"]] == [("RETURN", 2, 22)]
    assert ("UNTRACKED", None, None) in moves_of[undo["id"]]
    assert {one["actor"]["keyName"] for one in movements(shop)} == {"a OWNER of the tests"}
    agrees(shop)


def test_items_may_come_in_any_order(shop: Shop, dynamodb: Double) -> None:
    id = variant(shop, 5)
    placed(shop, line(id, 2))
    for item in reversed(traced(dynamodb)):
        fanned_out(dynamodb, [item])
    assert agrees(shop) == 2
    assert ledger.recount().wrong == []


@pytest.mark.thorough
@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.CRASH_AFTER, Fault.LOST_AFTER, Fault.ERROR])
@pytest.mark.parametrize("nth", range(1, 8))
def test_a_fan_out_that_fails_at_a_write_is_repeated(
    shop: Shop, dynamodb: Double, fault: Fault, nth: int
) -> None:
    """Each move is in the ledger once, and each write in the audit log."""
    made = variants(shop, *range(20))
    placed(shop, *(line(id, 1) for id in made[5:]))
    for _ in range(30):
        customer(shop)
    dynamodb.fails(fault, "TransactWriteItems", nth)
    items = traced(dynamodb)
    for _ in range(3):
        try:
            if not fan_out.handle(stream(items))["batchItemFailures"]:
                break
        except Crash:
            continue
    dynamodb.faults = lambda operation, request: None
    fanned_out(dynamodb)
    assert agrees(shop) == 20 + 15
    assert len(walked(shop, AUDIT, type="customer")) == 30


def test_two_fan_outs_at_once_enter_each_move_once(shop: Shop, dynamodb: Double) -> None:
    id = variant(shop, 50)
    for _ in range(5):
        placed(shop, line(id, 2))
    items, rivals = traced(dynamodb), [0]

    def rival(operation: str, request: Any) -> None:
        text = str(request)
        if operation == "TransactWriteItems" and "movement" in text and rivals[0] < 3:
            rivals[0] += 1
            placed(shop, line(id, 1))
            fanned_out(dynamodb, traced(dynamodb)[-1:])

    dynamodb.faults = rival
    fanned_out(dynamodb, items)
    dynamodb.faults = lambda operation, request: None
    assert rivals == [3]
    fanned_out(dynamodb)
    assert (agrees(shop), ledger.recount().wrong) == (9, [])


def test_a_move_that_another_fan_out_entered_with_its_return_is_entered_once(
    shop: Shop, dynamodb: Double
) -> None:
    """The sum is again what it was when this fan-out read it."""
    id = variant(shop, 5)
    fanned_out(dynamodb)
    order = placed(shop, line(id, 2))
    order.moved("CANCELLED")
    *_, sale, back = traced(dynamodb)
    before_the_commit(dynamodb, lambda: fanned_out(dynamodb, [sale, back]))
    fanned_out(dynamodb, [sale])
    assert moves_in(movements(shop)) == [("TRACKED", None, 5), ("SALE", -2, 3), ("RETURN", 2, 5)]
    assert (table.get((id, "ledger")) or {})["sum"] == 5
    assert listing.recount(KIND).wrong == []


def test_what_the_stream_lost_is_entered_when_it_is_published_again(
    shop: Shop, dynamodb: Double
) -> None:
    placed(shop, line(variant(shop, 5), 2))
    lost = [item["pk"]["S"] for item in traced(dynamodb)]
    fan_out.handle({"republish": lost})
    assert agrees(shop) == 2


def test_a_deletion_during_a_sale_leaves_no_pieces_in_the_ledger(
    shop: Shop, dynamodb: Double
) -> None:
    id = variant(shop, 5)
    before_the_commit(dynamodb, lambda: placed(shop, line(id, 2)))
    assert shop.delete(product_path(id)).status == 200
    fanned_out(dynamodb)
    item = table.get((id, "ledger"))
    assert item is not None and item["sum"] == 0


def spoiled(id: str) -> None:
    """Somebody changes the stock without an entry."""
    table.update((f"prod_{id[4:30]}", "stock"), add={f"quantities.{id}": 1})


def entry_lost(id: str) -> None:
    table.update((id, "ledger"), add={"sum": -1})


@pytest.mark.parametrize("defect", [spoiled, entry_lost])
def test_the_nightly_check_names_the_variants_whose_ledger_differs(
    shop: Shop,
    dynamodb: Double,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    defect: Callable[[str], None],
) -> None:
    from chalicelib.nightly import check

    waits: list[float] = []
    monkeypatch.setattr("chalicelib.ledger.store.time.sleep", waits.append)
    id = variant(shop, 5)
    variant(shop, 7)
    fanned_out(dynamodb)
    capsys.readouterr()
    check.check_totals()
    assert "total is wrong" not in capsys.readouterr().out
    defect(id)
    check.check_totals()
    out = capsys.readouterr().out
    assert f"{id}/ledger" in out and '"CountsWrong":1' in out
    assert waits == [40, 40]


def test_a_variant_that_differs_at_a_later_look_is_not_wrong(
    shop: Shop, dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its entry is on its way; its product has another that is wrong."""
    spoilt, sold = (one["id"] for one in product(shop, 5, 5)["variants"])
    fanned_out(dynamodb)
    spoiled(spoilt)
    monkeypatch.setattr("chalicelib.ledger.store.time.sleep", lambda _: placed(shop, line(sold, 1)))
    assert [one.cell for one in ledger.recount().wrong] == [(spoilt, "ledger")]


def test_an_entry_that_is_on_its_way_is_not_wrong(
    shop: Shop, dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed(shop, line(variant(shop, 5), 2))
    monkeypatch.setattr("chalicelib.ledger.store.time.sleep", lambda _: fanned_out(dynamodb))
    found = ledger.recount()
    assert (found.records, found.wrong) == (1, [])
