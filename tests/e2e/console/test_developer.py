"""Settings in the console: webhooks and their deliveries, keys, the API reference."""

import re

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.calls import until
from tests.e2e.console.desk import Desk
from tests.webhooks.receiver import Receiver

SECRET = re.compile(r"^whsec_.{20,}")


@pytest.mark.journey
def test_a_webhook_is_added_and_its_failed_delivery_replayed(
    desk: Desk, receiver: Receiver
) -> None:
    receiver.answers["desk"] = 503
    desk.open("/settings/developer/webhooks")
    desk.page.locator("header").get_by_role("button", name="Add webhook").click()
    desk.dialog.get_by_role("button", name="Add webhook").click()
    expect(desk.dialog.locator('[data-field="url"] .error')).not_to_be_empty()
    expect(desk.dialog.locator('[data-field="events"] .error')).not_to_be_empty()
    desk.dialog.get_by_label("Endpoint URL").fill(receiver.url("/as/desk"))
    desk.dialog.get_by_label("product.deleted").check()
    desk.dialog.get_by_role("button", name="Add webhook").click()
    secret = desk.dialog.locator(".copied code")
    expect(secret).to_have_text(SECRET)
    desk.dialog.get_by_role("heading").click()
    desk.page.keyboard.press("Escape")
    desk.page.keyboard.press("Escape")
    expect(secret).to_have_text(SECRET)
    desk.dialog.get_by_role("button", name="I have stored it").click()
    expect(desk.page.get_by_role("heading", level=1)).to_have_text(receiver.url("/as/desk"))
    assert "whsec_" not in desk.page.content()

    desk.button("Send test").click()
    desk.dialog.get_by_role("button", name="Send").click()
    desk.heading("product.deleted")
    attempts = desk.page.locator("details.attempt")
    expect(attempts).to_have_count(1)
    expect(attempts.first).to_contain_text("503")
    expect(desk.page.get_by_label("Request headers")).to_contain_text("X-Service-Signature: t=")
    expect(desk.page.get_by_label("Response headers")).to_be_visible()
    expect(desk.page.locator("header .badge").first).to_have_text("Retrying")
    expect(desk.page.get_by_label("Body", exact=True)).to_contain_text('"event": "product.deleted"')

    receiver.answers["desk"] = 200
    desk.button("Replay").click()
    expect(attempts).to_have_count(2)
    expect(desk.page.locator("header .badge").first).to_have_text("Delivered")
    assert len({one.body for one in receiver.requests}) == 1

    receiver.answers["desk"] = 503
    hook = desk.api.get(f"deliveries/{desk.page.url.rpartition('/')[2]}")["endpointId"]
    failed = desk.api.post(f"webhooks/{hook}/test", {"event": "product.deleted"})["id"]
    until(lambda: desk.api.get(f"deliveries/{failed}")["status"] == "RETRYING")
    desk.open(f"/settings/developer/webhooks/{hook}")
    health = desk.page.locator(".card", has_text="Last 24 hours").first
    expect(health).to_contain_text("50 % delivered: 1 of 2. 95 % of the answers came within")
    health.get_by_text("Show as table").click()
    hours = health.get_by_role("region").get_by_role("row")
    expect(hours).to_have_count(25)
    said = " ".join(hours.all_inner_texts())
    for what in ("delivered", "failed"):
        assert sum(map(int, re.findall(rf"(\d+) {what}", said))) == 1
    health.get_by_role("link", name="HTTP 503").click()
    expect(desk.page.locator("header .badge").first).to_have_text("Retrying")

    desk.page.get_by_role("link", name="← Deliveries").click()
    desk.label("Status").select_option("DELIVERED")
    expect(desk.page.get_by_role("row").filter(has_text="product.deleted").first).to_be_visible()


def test_a_webhook_is_paused_changed_and_its_secret_rotated(desk: Desk, receiver: Receiver) -> None:
    webhook = desk.api.webhook(receiver.url("/ok"))
    path = f"webhooks/{webhook['id']}"
    desk.open(f"/settings/developer/{path}")
    desk.more("Pause")
    expect(desk.page.locator("header .badge")).to_have_text("Paused")
    desk.button("Resume").click()
    expect(desk.page.locator("header .badge")).to_have_text("Enabled")
    desk.label("Description").fill("Bookkeeping")
    desk.page.locator(".event").filter(has_text="order.refunded").get_by_role("checkbox").check()
    desk.save()
    changed = desk.api.get(path)
    assert changed["description"] == "Bookkeeping"
    assert changed["events"] == ["order.paid", "order.refunded"]

    desk.more("Rotate secret")
    desk.dialog.get_by_label("Keep the old secret for (hours)").fill("100")
    desk.dialog.get_by_role("button", name="Rotate").click()
    expect(desk.dialog.locator(".error").first).not_to_be_empty()
    desk.dialog.get_by_label("Keep the old secret for (hours)").fill("2")
    desk.dialog.get_by_role("button", name="Rotate").click()
    shown = desk.dialog.locator(".copied code")
    expect(shown).to_have_text(SECRET)
    assert shown.inner_text() != webhook["secret"]
    desk.dialog.get_by_role("button", name="I have stored it").click()
    expect(desk.page.get_by_text("Old secret valid until")).to_be_visible()

    desk.more("Resend failed deliveries")
    desk.button("Check").click()
    expect(desk.page.locator(".toast").last).to_have_text(
        "Nothing failed since then, and nothing waits."
    )
    desk.dialog.get_by_role("button", name="Cancel").click()
    desk.more("Delete")
    desk.dialog.get_by_role("button", name="Delete").click()
    desk.heading("Webhooks")


def test_a_key_is_created_for_days_of_the_shop_shown_once_and_revoked(desk: Desk) -> None:
    def elsewhere(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace('"UTC"', '"America/New_York"'))

    desk.page.route("**/console", elsewhere)
    desk.open("/settings/keys")
    desk.button("Create API key").click()
    desk.dialog.get_by_label("Name").fill("Till at the door")
    desk.dialog.get_by_label("Expires").fill("2060-06-30")
    desk.dialog.get_by_role("button", name="Create").click()
    shown = desk.dialog.locator(".copied code")
    expect(shown).to_contain_text("bk_")
    key = shown.inner_text()
    desk.dialog.get_by_role("button", name="I have stored it").click()
    row = desk.page.get_by_role("row").filter(has_text="Till at the door")
    expect(row).to_contain_text("Staff")
    expect(row).to_contain_text("Jun 30, 2060")
    (made,) = [one for one in desk.api.get("keys")["data"] if one["name"] == "Till at the door"]
    assert made["expiresAt"] == "2060-06-30T04:00:00.000Z"
    # A closed dialog leaves the page a task later, when the browser tells of it.
    expect(desk.page.locator("dialog")).to_have_count(0)
    assert key not in desk.page.content()
    row.get_by_role("button", name="Revoke").click()
    desk.dialog.get_by_role("button", name="Revoke").click()
    expect(row).to_have_count(0)


def test_deliveries_of_all_webhooks_are_listed_together(desk: Desk, receiver: Receiver) -> None:
    made = [desk.api.webhook(receiver.url(path)) for path in ("/ok?of=first", "/ok?of=second")]
    for each in made:
        desk.api.post(f"webhooks/{each['id']}/test", {})
    desk.open("/settings/developer/deliveries")
    rows = desk.page.get_by_role("row")
    for each in made:
        expect(rows.filter(has_text=each["url"])).to_have_count(1)
    desk.label("Webhook").select_option(made[0]["id"])
    expect(rows.filter(has_text="order.paid")).to_have_count(1)


def test_a_filter_is_tried_on_a_sample_event_and_saved(desk: Desk, receiver: Receiver) -> None:
    webhook = desk.shown(desk.api.webhook(receiver.url("/ok")))
    desk.label("Filter").fill('{"data": {"source": ["ONLINE"]}}')
    desk.button("Try the filter").click()
    told = desk.page.get_by_role("status").filter(has_text="event like this")
    expect(told).to_contain_text("Does not match")
    sample = desk.label("Sample")
    expect(sample).to_have_value(re.compile('"source": "IN_PERSON"'))
    sample.fill('{"source": "ONLINE"}')
    desk.button("Try the filter").click()
    expect(told).to_contain_text("Matches")
    desk.label("Filter").fill('{"data": {"source": "ONLINE"}}')
    desk.button("Save").click()
    expect(desk.page.locator('[data-field="filter"] .error')).to_contain_text("must be a list")
    desk.label("Filter").fill('{"data": {"source": ["ONLINE"]}}')
    desk.save()
    saved = desk.api.get(f"webhooks/{webhook['id']}")
    assert saved["filter"] == {"data": {"source": ["ONLINE"]}}


def test_the_reference_tries_an_operation_with_the_key_of_the_session(desk: Desk) -> None:
    desk.open("/jobs")
    with desk.page.expect_response("**/api/openapi.json") as described:
        desk.page.get_by_role("link", name="API reference").click()
    paths = described.value.json()["paths"]
    calls = desk.page.locator(".opblock")
    expect(calls.nth(sum(len(methods) for methods in paths.values()) - 1)).to_be_visible()
    listed = calls.filter(has=desk.page.locator("[data-path='/api/admin/me']"))
    listed.locator(".opblock-summary").click()
    listed.get_by_role("button", name="Execute").click()
    expect(listed.locator(".live-responses-table")).to_contain_text('"role": "OWNER"')
    desk.page.get_by_role("link", name="Console").click()
    desk.heading("Home")


@pytest.mark.parametrize("path", ["webhooks", "keys"])
def test_an_addition_sent_again_after_a_lost_answer_shows_its_secret_once(
    desk: Desk, receiver: Receiver, path: str
) -> None:
    lost = desk.lost(f"**/api/admin/{path}")
    before = desk.api.get(path)["pagination"]["total"]
    if path == "webhooks":
        desk.open("/settings/developer/webhooks")
        desk.page.locator("header").get_by_role("button", name="Add webhook").click()
        desk.dialog.get_by_label("Endpoint URL").fill(receiver.url("/as/once"))
        desk.dialog.get_by_label("order.paid").check()
        submit = desk.dialog.get_by_role("button", name="Add webhook")
    else:
        desk.open("/settings/keys")
        desk.button("Create API key").click()
        desk.dialog.get_by_label("Name").fill("Till on a slow line")
        submit = desk.dialog.get_by_role("button", name="Create")
    submit.click()
    expect(desk.dialog.locator(".summary")).to_contain_text("may or may not have been saved")
    text = desk.dialog.get_by_label("Description" if path == "webhooks" else "Name")
    first = text.input_value()
    text.fill("Changed since")
    submit.click()
    expect(desk.dialog.locator(".summary")).to_contain_text("already created, before your last")
    text.fill(first)
    submit.click()
    expect(desk.dialog.locator(".copied code")).not_to_be_empty()
    assert lost == [201]
    assert desk.api.get(path)["pagination"]["total"] == before + 1
