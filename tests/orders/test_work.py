"""Work on what is made to order: what it is after each change of its order, and after its own."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.orders import store as orders
from chalicelib.orders.schemas import WorkChange
from chalicelib.orders.stages import OrderWork
from chalicelib.storage import table
from chalicelib.values import clock
from tests.orders.build import (
    ORDERS,
    Order,
    at_once,
    before_the_commit,
    counts_agree,
    keys_written,
    line,
    new_order,
    placed,
    product,
    stock_of,
    variant,
)
from tests.stock.build import fanned_out
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.job_desk import JobDesk
from tests.support.shop import Answer, Shop
from tests.support.units import item_size

WORK = "/api/admin/work"
STAGES = "/api/admin/settings/production"


def custom(**fields: Any) -> dict[str, Any]:
    """A custom line that is made."""
    return {"title": "Ring", "price": "90.00", "quantity": 1, "make": True, **fields}


def commissioned(shop: Shop, *lines: dict[str, Any], **fields: Any) -> Order:
    """A paid order with lines that are made."""
    return placed(shop, *(lines or [custom()]), paymentStatus="PAID", **fields)


def order_answer(order: Order) -> Answer:
    return order.shop.get(f"{ORDERS}/{order['id']}")


def works(order: Order) -> list[Any]:
    found: list[Any] = order.shop.read(f"{ORDERS}/{order['id']}/work")["data"]
    return found


def move(order: Order, stage: str = "stg_work", place: int = 0, **how: Any) -> Answer:
    return change(order, {"stage": stage}, place, **how)


def change(order: Order, fields: Any, place: int = 0, **how: Any) -> Answer:
    id = order["lineItems"][place]["id"]
    return order.shop.patch(f"{ORDERS}/{order['id']}/work/{id}", fields, **how)


def moved(order: Order, stage: str = "stg_work", place: int = 0) -> Any:
    answer = move(order, stage, place)
    assert answer.status == 200, answer.text
    return answer.json


def board(shop: Shop, query: str = "") -> list[str]:
    """The lines whose work a list has; its total is exact."""
    answer = shop.read(f"{WORK}?{query}")
    assert answer["total"] == len(answer["data"])
    return [one["lineItemId"] for one in answer["data"]]


def agrees(shop: Shop) -> bool:
    """Whether all counts agree, and both lists with the orders."""
    return counts_agree() and not any(found.wrong for _, found in orders.compare_work())


def announced(shop: Shop, *kinds: str) -> list[Any]:
    return [one for one in shop.events() if one["event"] in kinds]


def ids_of(order: Order) -> list[str]:
    return [one["id"] for one in order["lineItems"]]


def state_of(order: Order, place: int = 0) -> tuple[str, str | None]:
    work = works(order)[place]
    return work["state"], work["closedBy"]


def test_work_begins_when_the_deposit_is_paid(shop: Shop) -> None:
    order = placed(shop, custom(), deposit={"percent": 30})
    refused = shop.get(f"{ORDERS}/{order['id']}/work")
    assert (refused.status, refused.json["code"]) == (404, "not_found")
    assert move(order).status == 404
    assert board(shop) == []
    assert order.pay("10.00").json["status"] == "PENDING"
    assert order.pay("20.00").json["status"] == "PAID"
    (work,) = works(order)
    assert work["stage"] == {"id": "stg_todo", "name": "To do"}
    assert (work["state"], work["toMake"], work["made"], work["revision"]) == ("OPEN", 1, 0, 1)
    assert work["customer"]["lastName"] == "Lovelace" and "email" not in work["customer"]
    (created,) = announced(shop, "work.created")
    assert created["data"]["customerId"] == order["customer"]["id"]
    assert not {"title", "note", "blocked", "customer"} & created["data"].keys()
    assert board(shop) == ids_of(order)
    assert order.pay().status == 201
    assert len(announced(shop, "work.created", "work.updated")) == 1
    assert agrees(shop)


def test_the_first_move_begins_production(shop: Shop) -> None:
    order = commissioned(shop, custom(), custom())
    answer = move(order)
    assert (answer.json["orderStatus"], answer.json["made"]) == ("IN_PRODUCTION", 0)
    assert answer.json["startedAt"] and answer.json["moves"][0]["stage"] == "stg_work"
    shown = order_answer(order)
    assert shown.json["status"] == "IN_PRODUCTION"
    assert order.kinds() == ["order.created", "order.paid", "order.updated"]
    assert len(announced(shop, "work.updated")) == 1
    assert move(order, place=1).status == 200
    assert change(order, {"note": "Left hand"}).status == 200
    assert order_answer(order).headers["ETag"] == shown.headers["ETag"]
    assert order.patch({"note": "Call first"}).status == 200
    assert agrees(shop)


def test_two_moves_of_one_etag(shop: Shop) -> None:
    order = commissioned(shop)
    etag = shop.get(f"{ORDERS}/{order['id']}/work").headers["ETag"]
    assert move(order, headers={"If-Match": etag}).status == 200
    stale = move(order, "stg_todo", headers={"If-Match": etag})
    assert (stale.status, stale.json["code"]) == (412, "precondition_failed")
    assert moved(order, "stg_todo")["stage"]["id"] == "stg_todo"
    moves = [one["stage"] for one in works(order)[0]["moves"]]
    assert moves == ["stg_work", "stg_todo"]
    again = shop.get(f"{ORDERS}/{order['id']}/work")
    known = {"If-None-Match": again.headers["ETag"]}
    assert shop.get(f"{ORDERS}/{order['id']}/work", headers=known).status == 304


def test_the_same_values_again_change_nothing(shop: Shop) -> None:
    order = commissioned(shop)
    work = moved(order)
    events, etag = len(shop.events()), shop.get(f"{ORDERS}/{order['id']}/work").headers["ETag"]
    same = change(order, work)
    assert (same.status, same.json, same.headers["ETag"]) == (200, work, etag)
    assert len(shop.events()) == events


def test_the_last_of_three_works_produces_the_order(shop: Shop) -> None:
    order = commissioned(shop, custom(quantity=3), custom(), custom())
    for place in range(2):
        moved(order, "stg_done", place)
    assert order.read()["producedAt"] is None
    moved(order, "stg_done", 2)
    done = order.read()
    assert done["producedAt"] and done["status"] == "IN_PRODUCTION"
    work = works(order)[0]
    assert (work["state"], work["closedBy"], work["made"]) == ("DONE", "stage", 3)
    assert shop.read(f"{ORDERS}?produced=true")["total"] == 1
    assert board(shop) == [] and len(board(shop, "state=DONE")) == 3
    moved(order, "stg_work", 1)
    assert order.read()["producedAt"] is None
    assert shop.read(f"{ORDERS}?produced=true")["total"] == 0
    assert state_of(order, 1) == ("OPEN", None)
    moved(order, "stg_done", 1)
    produced = announced(shop, "order.produced")
    assert [one["data"]["orderNumber"] for one in produced] == [order["number"]] * 2
    assert order.read()["status"] == "IN_PRODUCTION"
    assert agrees(shop)


def test_pieces_follow_the_order(shop: Shop) -> None:
    order = commissioned(shop, custom(quantity=8))
    assert change(order, {"made": 9}).refused == ["made"]
    assert change(order, {"made": 5}).status == 200
    assert order.edit(change=[order.first_line(quantity=4)]).status == 200
    (work,) = works(order)
    assert (work["toMake"], work["made"], work["surplus"], work["revision"]) == (4, 5, 1, 1)
    moved(order)
    edit = {"change": [order.first_line(quantity=6)]}
    refused = order.edit(**edit, dryRun=True)
    assert (refused.status, refused.json["code"]) == (409, "spec_locked")
    assert (order.edit(**edit).status, refused.json["lineItemId"]) == (409, ids_of(order)[0])
    assert refused.json["startedAt"] == works(order)[0]["startedAt"]
    assert order.edit(change=[order.first_line(price="80.00")]).status == 200
    assert order.edit(**edit, unlock=True).status == 200
    (work,) = works(order)
    assert (work["toMake"], work["surplus"], work["revision"]) == (6, 0, 2)
    values = [{"name": "Ring size", "value": "54"}]
    details = [order.first_line(specification=values)]
    assert order.edit(change=details, unlock=True).status == 200
    assert works(order)[0]["specification"] == values and works(order)[0]["revision"] == 3
    assert order.edit().refused == ["body"] and order.edit(unlock=True).refused == ["body"]


def test_refunds_withdraw_pieces(shop: Shop) -> None:
    tracked = product(shop, 5, madeToOrder=True)["variants"][0]["id"]
    order = commissioned(shop, line(tracked, 8))
    assert order.refund(lines=[order.first_line(quantity=3)]).status == 201
    assert works(order)[0]["toMake"] == 5
    answer = order.refund(lines=[order.first_line(quantity=5, restock=True)])
    assert answer.json["refunds"][1]["lines"][0]["restocked"] == 0
    assert state_of(order) == ("CANCELLED", "refund")
    assert stock_of(shop, tracked) == 5
    assert shop.read(f"/api/admin/stock/movements?orderId={order['id']}")["total"] == 0
    done = commissioned(shop, custom(quantity=2), custom())
    moved(done, "stg_done")
    assert done.refund(lines=[done.first_line(quantity=2)]).status == 201
    assert (state_of(done), works(done)[0]["surplus"]) == (("DONE", "stage"), 2)
    assert change(done, {"note": "Sell it"}).json["code"] == "work_closed"
    assert agrees(shop)


def test_an_edit_ends_work_and_brings_it_back(shop: Shop) -> None:
    made = product(shop, 5, madeToOrder=True)["variants"][0]["id"]
    order = commissioned(shop, line(made, 2), custom(), custom(title="Stays"))
    moved(order, place=1)
    assert order.edit(change=[order.first_line(make=False)]).status == 200
    assert (state_of(order), stock_of(shop, made)) == (("CANCELLED", "edit"), 3)
    second = [ids_of(order)[1]]
    assert order.edit(remove=second).json["code"] == "spec_locked"  # work has begun
    assert order.edit(remove=second, unlock=True).status == 200
    gone = works(order)[-1]
    assert (gone["title"], gone["state"], gone["closedBy"]) == ("Ring", "CANCELLED", "edit")
    assert move(order, place=1).json["code"] == "work_closed"
    assert order.edit(change=[order.first_line(make=True)]).status == 200
    assert (state_of(order), stock_of(shop, made)) == (("OPEN", None), 5)
    for make in (False, True):
        stays = {"lineItemId": ids_of(order)[2], "make": make}
        assert order.edit(change=[stays]).status == 200
    assert order.edit(add=[custom(title="Chain")]).status == 200
    assert {one["title"] for one in works(order) if one["state"] == "OPEN"} > {"Chain", "Stays"}
    assert len(announced(shop, "work.created")) == 4
    assert agrees(shop)


def test_more_pieces_reopen_what_is_done(shop: Shop) -> None:
    order = commissioned(shop, custom(quantity=2))
    moved(order, "stg_done")
    assert order.edit(change=[order.first_line(quantity=3)]).json["code"] == "spec_locked"
    answer = order.edit(change=[order.first_line(quantity=3)], unlock=True)
    assert answer.json["producedAt"] is None
    (work,) = works(order)
    assert (work["state"], work["made"], work["toMake"]) == ("OPEN", 2, 3)
    assert (work["stage"]["id"], work["moves"][-1]["stage"]) == ("stg_todo", "stg_todo")
    assert agrees(shop)


def test_work_ends_with_its_order(shop: Shop) -> None:
    refunded, closed = (commissioned(shop, custom(), custom()) for _ in range(2))
    moved(closed, "stg_done", 1)
    assert refunded.moved("REFUNDED").status == 200
    assert state_of(refunded) == ("CANCELLED", "order")
    reason = {"reason": "The customer withdrew", "method": "CASH"}
    preview = closed.post("/close", {**reason, "dryRun": True}).json
    assert preview["work"] == ids_of(closed)[:1] and "work.updated" in preview["events"]
    assert closed.post("/close", reason).status == 200
    assert [state_of(closed, n) for n in range(2)] == [("CANCELLED", "close"), ("DONE", "stage")]
    for order in (refunded, closed):
        assert move(order).json["code"] == "work_closed"
        assert order.read()["producedAt"] is None
    assert board(shop) == [] and len(board(shop, "state=CANCELLED")) == 3
    assert agrees(shop)


def test_the_order_stays_in_production_while_parts_are_shipped(shop: Shop) -> None:
    order = commissioned(shop, custom(quantity=8))
    moved(order)
    assert change(order, {"made": 5}).status == 200
    part = {"lines": [order.first_line(quantity=5)]}
    preview = order.post("/shipments", {**part, "dryRun": True})
    assert preview.json["statusAfter"] == "IN_PRODUCTION"
    assert order.post("/shipments", part).json["status"] == "IN_PRODUCTION"
    (work,) = works(order)
    assert (work["state"], work["toMake"], work["made"]) == ("OPEN", 8, 5)
    assert order.post("/shipments", {}).json["status"] == "SHIPPED"
    (work,) = works(order)
    assert (work["state"], work["closedBy"], work["made"]) == ("DONE", "shipment", 8)
    answer = move(order, "stg_todo")
    assert (answer.status, answer.json["code"]) == (409, "work_closed")
    assert (answer.json["state"], answer.json["closedBy"]) == ("DONE", "shipment")
    assert order.moved("DELIVERED").status == 200
    assert agrees(shop)


def test_what_is_made_and_shipped_leaves_the_rest_to_processing(shop: Shop) -> None:
    order = commissioned(shop, custom(), line(variant(shop, 5), 2))
    moved(order)
    answer = order.post("/shipments", {"lines": [order.first_line(quantity=1)]})
    assert answer.json["status"] == "PROCESSING"
    assert state_of(order) == ("DONE", "shipment")
    assert agrees(shop)


def test_work_on_pieces_that_left_does_not_open_again(shop: Shop) -> None:
    order = commissioned(shop, custom(), custom(title="Chain"))
    moved(order, "stg_done")
    part = {"lines": [order.first_line(quantity=1)]}
    (sent,) = order.post("/shipments", part).json["shipments"]
    answer = move(order, "stg_work")
    assert (answer.json["code"], answer.json["closedBy"]) == ("work_closed", "stage")
    assert order.post(f"/shipments/{sent['id']}/cancel", {}).status == 200
    assert moved(order, "stg_work")["state"] == "OPEN"
    assert agrees(shop)


def test_what_was_shipped_in_any_stage_is_made_also_if_the_parcel_stays(shop: Shop) -> None:
    order = commissioned(shop, custom(), custom(title="Chain"))
    moved(order)
    unmade = [order.first_line(make=False)]
    assert order.edit(change=unmade).json["code"] == "spec_locked"
    part = {"lines": [order.first_line(quantity=1)]}
    (sent,) = order.post("/shipments", part).json["shipments"]
    assert (state_of(order), works(order)[0]["stage"]["id"]) == (("DONE", "shipment"), "stg_work")
    assert order.post(f"/shipments/{sent['id']}/cancel", {}).status == 200
    assert (state_of(order), works(order)[0]["stage"]["id"]) == (("DONE", "stage"), "stg_done")
    assert moved(order, "stg_work")["state"] == "OPEN"
    assert agrees(shop)


def test_done_work_of_a_shipped_order_is_closed(shop: Shop) -> None:
    order = commissioned(shop)
    moved(order, "stg_done")
    assert order.moved("PROCESSING", "SHIPPED").status == 200
    assert move(order, "stg_work").json["code"] == "work_closed"
    assert order.read()["producedAt"]


def test_work_stays_open_when_the_order_is_processed(shop: Shop) -> None:
    order = commissioned(shop)
    assert order.moved("PROCESSING").status == 200
    assert state_of(order) == ("OPEN", None)
    etag = order_answer(order).headers["ETag"]
    moved(order)
    assert (order.read()["status"], order_answer(order).headers["ETag"]) == ("PROCESSING", etag)


def test_what_is_done_stays_in_its_limits(shop: Shop) -> None:
    order = commissioned(shop, custom(quantity=3))
    moved(order, "stg_done")
    assert change(order, {"made": 2}).refused == ["made"]
    assert change(order, {"note": "Checked", "assignee": "emp_ann-01"}).status == 200
    assert change(order, {"blocked": "No gold"}).json["blocked"] == "No gold"
    assert change(order, {"blocked": None, "note": ""}).json["note"] is None
    unknown = move(order, "stg_gone")
    assert (unknown.status, unknown.json["code"]) == (422, "unknown_stage")
    assert unknown.json["allowed"] == ["stg_todo", "stg_work", "stg_done"]
    empty = change(order, {})
    assert (empty.status, empty.json["errors"][0]["code"]) == (422, "required")
    for wrong in ({"stage": None}, {"priority": 10}, {"assignee": "Ann"}, {"blocked": "x" * 201}):
        assert change(order, wrong).status == 422
    assert shop.patch(f"{ORDERS}/{order['id']}/work/li_none", {"made": 1}).status == 404
    assert shop.patch(f"{ORDERS}/ord_none/work/li_none", {"made": 1}).status == 404


def test_readers_see_work_and_staff_change_it(shop: Shop, dynamodb: Double) -> None:
    order, reader, staff = commissioned(shop), shop.as_("READER"), shop.as_("STAFF")
    for path in (WORK, f"{ORDERS}/{order['id']}/work"):
        assert shop.get(path, key=reader).status == 200
    assert move(order, key=reader).status == 403
    fanned_out(dynamodb)
    refused = shop.read("/api/admin/audit?action=request.refused")["data"][0]
    assert refused["request"] == "PATCH /api/admin/orders/{id}/work/{line_item_id}"
    assert move(order, key=staff).status == 200
    stages = shop.read(STAGES, key=staff)
    assert shop.put(STAGES, stages, key=staff).status == 403
    assert shop.put(STAGES, stages, key=shop.as_("ADMIN")).status == 200


@pytest.mark.parametrize(
    ("day", "at", "is_late"),
    [
        ("2026-03-29", datetime(2026, 3, 29, 21, 59, tzinfo=UTC), False),
        ("2026-03-29", datetime(2026, 3, 29, 22, 1, tzinfo=UTC), True),
        ("2026-10-25", datetime(2026, 10, 25, 22, 59, tzinfo=UTC), False),
        ("2026-10-25", datetime(2026, 10, 25, 23, 1, tzinfo=UTC), True),
    ],
)
def test_work_is_overdue_from_midnight_on(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, day: str, at: datetime, is_late: bool
) -> None:
    monkeypatch.setenv("TIMEZONE", "Europe/Berlin")
    order = commissioned(shop, custom(dueOn=day), orderDate="2026-01-01")
    shop.as_("READER")
    monkeypatch.setattr(clock, "now", lambda: at)
    late = ids_of(order) if is_late else []
    assert board(shop, "due=overdue") == late
    assert board(shop, "due=today") == ([] if is_late else ids_of(order))
    assert shop.read(WORK)["overdue"] == len(late)


def test_eight_moves_at_once_are_all_made(shop: Shop) -> None:
    order = commissioned(shop, custom(quantity=8))
    etag = shop.get(f"{ORDERS}/{order['id']}/work").headers["ETag"]
    answers = at_once(8, lambda n: move(order, headers={"If-Match": etag}))
    assert sorted(one.status for one in answers) == [200] + [412] * 7
    answers = at_once(8, lambda n: change(order, {"made": n + 1}))
    assert {one.status for one in answers} == {200}
    assert len(announced(shop, "work.updated")) == 9
    assert agrees(shop)


def test_stages_are_renamed_and_not_removed_in_use(shop: Shop) -> None:
    order = commissioned(shop)
    first = shop.get(STAGES)
    todo, work, done = first.json["stages"]
    wanted = [{**todo, "name": "Waiting"}, work, {"name": "Polish"}, done]
    assert shop.put(STAGES, {"stages": wanted}).status == 200
    assert works(order)[0]["stage"] == {"id": todo["id"], "name": "Waiting"}
    stale = shop.put(STAGES, {"stages": wanted}, headers={"If-Match": first.headers["ETag"]})
    assert stale.status == 412
    polish = shop.read(STAGES)["stages"][2]
    moved(order, polish["id"])
    known = shop.get(STAGES)
    same = shop.put(STAGES, known.json)
    assert (same.json, same.headers["ETag"]) == (known.json, known.headers["ETag"])
    for left in ([todo, work, done], [todo, work, done, polish]):
        used = shop.put(STAGES, {"stages": left})
        assert (used.status, used.json["code"]) == (409, "stage_in_use")
        assert (used.json["stage"], used.json["count"]) == (polish["id"], 1)
    moved(order)
    assert shop.put(STAGES, {"stages": [todo, work, done]}).status == 200
    assert move(order, polish["id"]).json["code"] == "unknown_stage"
    assert agrees(shop)


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["A"], "too_few"),
        ([str(n) for n in range(13)], "too_many"),
        (["Gold", "gold"], "duplicate_name"),
    ],
)
def test_stages_have_limits(shop: Shop, names: list[str], code: str) -> None:
    answer = shop.put(STAGES, {"stages": [{"name": name} for name in names]})
    assert (answer.status, answer.json["errors"][0]["code"]) == (422, code)
    unknown = shop.put(STAGES, {"stages": [{"id": "stg_x", "name": "A"}, {"name": "B"}]})
    assert (unknown.status, unknown.json["code"]) == (422, "unknown_stage")


def test_no_work_is_left_in_a_stage_that_goes_meanwhile(shop: Shop, dynamodb: Double) -> None:
    order = commissioned(shop)
    todo, _, done = shop.read(STAGES)["stages"]

    def remove_stage() -> None:
        assert shop.put(STAGES, {"stages": [todo, done]}).status == 200

    dynamodb.meanwhile("TransactWriteItems", remove_stage)
    late = move(order)
    assert (late.status, late.json["code"]) == (422, "unknown_stage")
    assert shop.put(STAGES, {"stages": [todo, {"name": "Cast"}, done]}).status == 200
    cast = shop.read(STAGES)["stages"][1]
    dynamodb.meanwhile("TransactWriteItems", lambda: moved(order, cast["id"]))
    refused = shop.put(STAGES, {"stages": [todo, done]})
    assert (refused.status, refused.json["code"]) == (409, "stage_in_use")
    known = shop.get(STAGES)
    renamed = [{"stages": [{**todo, "name": name}, cast, done]} for name in ("Mine", "Theirs")]
    dynamodb.meanwhile("TransactWriteItems", lambda: shop.put(STAGES, renamed[1]))
    mine = shop.put(STAGES, renamed[0], headers={"If-Match": known.headers["ETag"]})
    assert (mine.status, shop.read(STAGES)["stages"][0]["name"]) == (412, "Theirs")
    dynamodb.meanwhile("TransactWriteItems", lambda: shop.put(STAGES, {"stages": [cast, done]}))
    second = commissioned(shop)
    assert works(second)[0]["stage"]["id"] == cast["id"]
    assert agrees(shop)


def test_the_board_has_exact_counts_and_filters(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime(2026, 12, 20, 12, tzinfo=UTC)
    monkeypatch.setattr(clock, "now", lambda: now)
    made = product(shop, madeToOrder=True)
    days = ["2026-12-19", "2026-12-20", "2026-12-26", "2026-12-27", None]
    lines = [custom(dueOn=day) for day in days]
    order = commissioned(shop, *lines, line(made["variants"][0]["id"], dueOn="2027-02-01"))
    late, today, week, later, undated, ring = ids_of(order)
    moved(order, place=1)
    assert change(order, {"assignee": "emp_ann-01"}, 2).status == 200
    answer = shop.read(WORK)
    assert answer["counts"] == {"stg_todo": 5, "stg_work": 1}
    assert answer["overdue"] == 1
    assert board(shop) == [late, today, week, later, ring, undated]
    assert board(shop, "due=overdue") == [late]
    assert board(shop, "due=today") == [today]
    assert board(shop, "due=week") == [today, week]
    assert board(shop, "due=none") == [undated]
    assert board(shop, "due=none&from=2026-12-01") == board(shop, "due=none&to=2027-12-01") == []
    assert board(shop, "from=2026-12-27") == [later, ring]
    assert board(shop, "to=2026-12-20") == [late, today]
    assert board(shop, "stage=stg_work") == [today]
    assert board(shop, "assignee=emp_ann-01") == [week]
    assert len(board(shop, "assignee=none")) == 5
    assert board(shop, f"productId={made['id']}") == [ring]
    assert board(shop, f"orderId={order['id']}&stage=stg_work") == [today]
    assert board(shop, f"orderId={order['id']}&state=DONE") == []
    first = shop.read(f"{WORK}?limit=4&cursor=*")
    rest = shop.read(f"{WORK}?limit=4&cursor={first['pagination']['next']}")
    assert [one["lineItemId"] for one in first["data"] + rest["data"]] == board(shop)
    summary = shop.read("/api/admin/summary")["production"]
    assert summary == {"open": 6, "overdue": 1, "today": 1}
    moved(order, "stg_done", 0)
    assert board(shop, "state=DONE&from=2026-12-20&to=2026-12-20") == [late]
    assert board(shop, "state=DONE&to=2026-12-19") == []
    assert shop.get(f"{WORK}?state=DONE&due=today").refused == ["due"]
    assert shop.get(f"{WORK}?assignee=Ann").refused == ["assignee"]
    assert order.patch({"dueOn": "2026-12-01"}).status == 200
    assert board(shop, "due=overdue") == [undated]
    assert shop.read(WORK)["overdue"] == 1
    assert agrees(shop)


def test_required_details_are_missing_until_somebody_gives_them(shop: Shop) -> None:
    names = [{"name": "Ring size", "required": True}, {"name": "Engraving"}]
    made = product(shop, madeToOrder=True, specification=names)["variants"][0]["id"]
    order = commissioned(shop, line(made), line(made, make=False))
    assert [one["missing"] for one in works(order)] == [["Ring size"]]
    values = [{"name": "ring size", "value": "54"}]
    assert order.edit(change=[order.first_line(specification=values)]).status == 200
    assert works(order)[0]["missing"] == []
    second = {"lineItemId": ids_of(order)[1], "make": True}
    assert order.edit(change=[second]).status == 200
    assert works(order)[1]["missing"] == ["Ring size"]
    assert "required" not in order.read()["lineItems"][0]


def test_an_order_has_at_most_25_lines_that_are_made(shop: Shop, dynamodb: Double) -> None:
    answer = shop.post(ORDERS, new_order(*[custom()] * 26))
    assert answer.status == 422
    assert answer.json["errors"][0] | {"message": ""} == {
        "field": "lineItems",
        "code": "too_many",
        "message": "",
    }
    tags = [f"tag {n}" for n in range(17)]
    written = keys_written(dynamodb)
    order = commissioned(shop, *[custom(dueOn="2027-01-01")] * 25, tags=tags)
    assert len(written) <= 100
    assert len(board(shop, "limit=100")) == 25
    refused = order.edit(add=[custom()])
    assert refused.json["errors"][0]["code"] == "too_many"
    assert agrees(shop)


def test_a_creation_shows_beforehand_what_is_made(shop: Shop) -> None:
    made = product(shop, 0, madeToOrder=True)["variants"][0]["id"]
    sent = new_order(line(made, dueOn="2027-01-01"), dueOn="2027-02-01", dryRun=True)
    preview = shop.post(ORDERS, sent).json
    assert preview["dueOn"] == "2027-02-01"
    assert [(one["make"], one["dueOn"]) for one in preview["lineItems"]] == [(True, "2027-01-01")]


def test_an_erasure_leaves_no_text_of_the_workshop(jobs: JobDesk) -> None:
    shop, size = jobs.shop, [{"name": "Engraving", "value": "Lovelace forever"}]
    order = commissioned(shop, custom(specification=size), custom(title="Ring of Lovelace"))
    texts = {"blocked": "Lovelace has not called", "note": "For Lovelace"}
    assert change(order, texts).status == change(order, texts, 1).status == 200
    assert order.edit(remove=[ids_of(order)[1]]).status == 200
    fanned_out(jobs.dynamodb)
    entries = f"/api/admin/audit?recordId={order['id']}&action=work.updated"
    assert "For Lovelace" in shop.get(entries).text
    jobs.done(f"/api/admin/customers/{order['customer']['id']}/erase")
    kept, gone = works(order)
    assert (kept["specification"][0], kept["note"], kept["blocked"]) == (
        {"name": "Engraving", "value": None},
        None,
        None,
    )
    assert (gone["title"], gone["note"], gone["blocked"]) == ("Ring of [erased]", None, None)
    left = [one for one in shop.stored() if "Lovelace" in str(one)]
    assert {one["pk"][:4] for one in left} <= {"idem", "job_"}
    assert shop.read(entries)["total"] == 2 and "Lovelace" not in shop.get(entries).text
    assert agrees(shop)


def test_an_erasure_again_clears_what_the_workshop_wrote_since(jobs: JobDesk) -> None:
    shop = jobs.shop
    order = commissioned(shop, custom(), custom(title="Chain"))
    item = table.get((order["id"], "order"))
    assert item
    table.put({**item, "lineItems": item["lineItems"][:1]})  # by release 1.0.0
    assert order.patch({"dueOn": "2027-01-01"}).status == 200
    for _ in range(2):
        assert change(order, {"note": "For Lovelace"}).status == 200
        jobs.done(f"/api/admin/customers/{order['customer']['id']}/erase")
        assert [one["note"] for one in works(order)] == [None]


def stocked(shop: Shop, number: int) -> list[str]:
    return [variant(shop, 5) for _ in range(number)]


@pytest.mark.parametrize("end", ["delete", "close", "refunded"])
def test_the_largest_order_ends_in_one_transaction(shop: Shop, dynamodb: Double, end: str) -> None:
    sold, made = stocked(shop, 35), [custom(dueOn="2027-01-01") for _ in range(25)]
    tags = [f"tag {n}" for n in range(50)]
    order = commissioned(shop, *map(line, sold), *made, tags=tags, paymentMethod="CASH")
    assert len(board(shop, "limit=100")) == 25
    too_many = [*map(line, stocked(shop, 36)), *made]
    refused = shop.post(ORDERS, new_order(*too_many))
    assert (refused.status, refused.json["errors"][0]["code"]) == (422, "too_large")
    if end == "delete":
        moved(order, place=35)
        assert order.delete().status == 200
    elif end == "close":
        assert order.post("/close", {"reason": "Stopped", "method": "CASH"}).status == 200
    else:
        assert order.moved("REFUNDED").status == 200
    assert board(shop, "limit=100") == []
    assert len(board(shop, "state=CANCELLED&limit=100")) == (0 if end == "delete" else 25)
    assert [stock_of(shop, id) for id in sold] == [5] * 35
    lists = [one for one in shop.stored() if one["pk"].startswith("list#work#")]
    assert lists == []
    assert agrees(shop)


@pytest.mark.thorough
@pytest.mark.parametrize("end", ["delete", "close"])
def test_what_a_killed_end_left_in_the_lists_is_discarded(
    shop: Shop, dynamodb: Double, end: str
) -> None:
    made = product(shop, *[None] * 25, madeToOrder=True)["variants"]
    lines = [line(one["id"], dueOn="2001-01-01") for one in made]
    order = commissioned(shop, *map(line, stocked(shop, 35)), *lines, paymentMethod="CASH")
    for _ in range(30 if end == "delete" else 0):
        order.refund(amount="0.01")
    still = commissioned(shop, custom(dueOn="2001-01-01"))
    ended: list[object] = []

    def kill(operation: str, request: Any) -> Fault | None:
        """Kill the function once its transaction is made."""
        ended.extend([request] * (operation == "TransactWriteItems"))
        return Fault.CRASH if ended and operation == "BatchWriteItem" else None

    dynamodb.faults = kill
    with pytest.raises(Crash):
        order.delete() if end == "delete" else order.post("/close", {"reason": "Stopped"})
    dynamodb.faults = lambda operation, request: None
    left = shop.read(WORK)["overdue"] - 1
    assert left > 0 and not agrees(shop)
    discarded = dict(orders.discard_entries())
    assert (discarded["work"], discarded["due"]) == (left, 0)
    assert shop.read(WORK)["overdue"] == 1
    assert board(shop, "due=overdue") == ids_of(still)
    assert agrees(shop)
    assert set(dict(orders.discard_entries()).values()) == {0}


@pytest.mark.thorough
def test_the_work_of_an_order_fits_its_item(
    shop: Shop, dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = OrderWork.from_items

    def read_in_no_order(order_id: str, items: Any) -> OrderWork:
        """A map in DynamoDB has no order."""
        work = read(order_id, items)
        return replace(work, lines=dict(reversed([*work.lines.items()])))

    monkeypatch.setattr(OrderWork, "from_items", read_in_no_order)
    order, sizes = commissioned(shop), list[int]()

    def note_size(operation: str, request: Any) -> None:
        puts = [one["Put"]["Item"] for one in request.get("TransactItems", []) if "Put" in one]
        sizes.extend(item_size(item) for item in puts if item["sk"]["S"] == "work")

    dynamodb.faults = note_size
    assert change(order, {"note": "😀" * 1_000, "blocked": "😀" * 200}).status == 200
    for n in range(31):
        stage = WorkChange.model_validate({"stage": ["stg_work", "stg_todo"][n % 2]})
        orders.change_work(order["id"], ids_of(order)[0], stage, "😀" * 100, None)
    assert sizes[-1] * 25 <= 275_000
    large = [{"name": f"N{n}", "value": "x" * 490} for n in range(15)]
    for n in range(16):
        added = order.edit(add=[custom(title=f"Ring {n}", specification=large)]).json
        assert order.edit(remove=[added["lineItems"][-1]["id"]]).status == 200
    assert sizes[-1] <= 120_000
    titles = [one["title"] for one in works(order)[1:]]
    assert titles == [f"Ring {n}" for n in range(16 - len(titles), 16)]
    assert len(titles) > 8
    assert agrees(shop)


@pytest.mark.thorough
@pytest.mark.parametrize("fault", list(Fault))
@pytest.mark.parametrize("stage", ["stg_work", "stg_done"])
def test_a_move_that_is_repeated_after_a_crash_is_one(
    shop: Shop, dynamodb: Double, stage: str, fault: Fault
) -> None:
    order = commissioned(shop)
    dynamodb.fails(fault, "TransactWriteItems")
    try:
        answer = move(order, stage)
    except Crash:
        answer = move(order, stage)
    assert (answer.status, answer.json["stage"]["id"]) == (200, stage)
    assert len(answer.json["moves"]) == 1
    assert order.read()["status"] == "IN_PRODUCTION"
    assert len(announced(shop, "work.updated")) == 1
    assert len(announced(shop, "order.produced")) == (stage == "stg_done")
    assert agrees(shop)


def test_a_move_beside_another_change_of_the_order(shop: Shop, dynamodb: Double) -> None:
    order = commissioned(shop, custom(quantity=4))
    moved(order)
    edit = {"change": [order.first_line(quantity=2)], "unlock": True}
    before_the_commit(dynamodb, lambda: order.edit(**edit))
    assert moved(order, "stg_done")["made"] == 2
    before_the_commit(dynamodb, lambda: moved(order, "stg_work"))
    more = order.edit(change=[order.first_line(quantity=6)], unlock=True)
    assert (more.status, works(order)[0]["stage"]["id"]) == (200, "stg_work")
    before_the_commit(dynamodb, lambda: order.post("/close", {"reason": "x", "method": "OTHER"}))
    assert move(order, "stg_done").json["code"] == "work_closed"
    other = commissioned(shop)
    before_the_commit(dynamodb, other.delete)
    assert move(other).status == 404
    gone = commissioned(shop)
    moved(gone)
    before_the_commit(dynamodb, lambda: moved(gone, "stg_todo"))
    assert gone.delete().status == 200
    assert board(shop) == [] and agrees(shop)


def test_two_moves_of_one_order_at_once_both_hold(shop: Shop, dynamodb: Double) -> None:
    order = commissioned(shop, custom(), custom())
    moved(order)
    before_the_commit(dynamodb, lambda: moved(order, "stg_todo"))
    moved(order, "stg_work", place=1)
    assert [work["stage"]["id"] for work in works(order)] == ["stg_todo", "stg_work"]
    assert agrees(shop)


def test_a_move_is_at_most_ten_items(shop: Shop, dynamodb: Double) -> None:
    order = commissioned(shop, custom(), custom())
    moved(order)
    written = keys_written(dynamodb)
    moved(order, place=1)
    assert len(written) == 6  # and the outbox
    del written[:]
    moved(order, "stg_done")
    assert len(written) <= 9
