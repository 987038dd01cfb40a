"""Imports in the console."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.console.desk import Desk

MINUTES = 240_000  # milliseconds; a thousand transactions on an emulator


def catalogue(rows: int, prefix: str, description: str = "") -> list[str]:
    header = "slug,name,sku,price,stock,description"
    return [header] + [
        f"{prefix}-{n},Imported {prefix} {n},{prefix}-{n},{n % 90}.50,{n % 30},{description}"
        for n in range(rows)
    ]


def written(folder: Path, lines: list[str]) -> Path:
    path = folder / "supplier.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_import_of_a_thousand_rows_shows_progress_to_the_end(
    desk: Desk, tmp_path: Path
) -> None:
    lines = catalogue(1_000, "watched")
    lines[17] = "watched-16,Imported,watched-16,twelve,3,"
    desk.open("/import")
    desk.page.locator("input[type=file]").set_input_files(written(tmp_path, lines))
    expect(desk.field("file")).to_contain_text("supplier.csv")
    desk.button("Import").click()
    desk.heading("supplier.csv")
    progress = desk.page.get_by_role("progressbar", name="Progress")
    expect(progress).to_be_visible()
    badge = desk.page.locator("header .badge")
    expect(badge).to_have_text("Completed with 1 error", timeout=MINUTES)
    expect(badge).not_to_have_class("badge good")
    expect(desk.page.get_by_text("Fix these rows in the downloaded file")).to_be_visible()
    expect(progress).to_have_count(0)
    expect(desk.page.get_by_text("1,000 of 1,000 products")).to_be_visible()
    tiles = desk.page.locator(".tile")
    counts = ["Created999", "Updated0", "Unchanged0", "Failed1", "With failed rows1"]
    expect(tiles).to_have_text([*counts, "Rows in the file1,000"])
    row = desk.page.get_by_role("row").filter(has_text="price")
    expect(row.get_by_role("cell").nth(1)).to_have_text("18")
    with desk.page.expect_download() as download:
        desk.page.get_by_role("link", name="Download failed rows").click()
    assert download.value.suggested_filename == "supplier-errors.csv"
    assert "twelve" in Path(download.value.path()).read_text()
    assert desk.api.get("products?search=watched-999")["total"] == 1


def test_an_upload_after_a_429_waits_and_continues(desk: Desk, tmp_path: Path) -> None:
    limit = {"status": 429, "headers": {"Retry-After": "1"}, "json": {"code": "rate_limited"}}
    path = "**/api/admin/products/import"
    desk.page.route(path, lambda route: route.fulfill(**limit), times=1)
    desk.send_file(written(tmp_path, catalogue(3, "late")))
    expect(desk.page.get_by_text("3 of 3 products")).to_be_visible(timeout=MINUTES)


def test_an_upload_sent_again_after_a_lost_answer_is_one_job(desk: Desk) -> None:
    lost = desk.lost("**/api/admin/products/import")
    # Of a file on the disk, a request that is held back has no bytes.
    content = "\n".join(catalogue(2, "twice")).encode()
    desk.send_file({"name": "twice.csv", "mimeType": "text/csv", "buffer": content})
    expect(desk.page.locator(".summary")).to_contain_text("was interrupted")
    desk.button("Import").click()
    desk.heading("twice.csv")
    assert lost == [202]
    jobs = desk.api.get("jobs")["data"]
    assert len([job for job in jobs if job.get("fileName") == "twice.csv"]) == 1


def test_an_upload_is_a_new_job_when_its_first_one_may_wait_no_longer(desk: Desk) -> None:
    keys: list[str] = []

    def lose(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        route.abort()

    desk.page.route("**/api/admin/products/import", lose)
    desk.page.clock.install()
    content = "\n".join(catalogue(2, "slept")).encode()
    desk.send_file({"name": "slept.csv", "mimeType": "text/csv", "buffer": content})
    for minutes in ("00:00", "59:00", "02:00"):
        desk.page.clock.fast_forward(minutes)
        expect(desk.page.locator(".summary")).to_contain_text("was interrupted")
        desk.button("Import").click()
        expect(desk.button("Import")).not_to_have_attribute("aria-busy", "true")
    first, second, third, fourth = keys
    assert first == second == third != fourth


def test_a_file_that_was_changed_after_it_was_chosen_is_chosen_again(
    desk: Desk, tmp_path: Path
) -> None:
    path = written(tmp_path, catalogue(2, "chosen"))
    desk.open("/import")
    desk.page.locator("input[type=file]").set_input_files(path)
    path.write_text(path.read_text() + "chosen-9,More,chosen-9,1,1,\n")
    desk.button("Import").click()
    expect(desk.page.locator(".summary")).to_contain_text("Choose it again.")
    with desk.page.expect_file_chooser() as choosing:
        desk.page.get_by_text("Choose file").click()
    choosing.value.set_files(path)
    desk.button("Import").click()
    expect(desk.page.get_by_text("3 of 3 products")).to_be_visible(timeout=MINUTES)


def test_a_large_file_is_uploaded_directly_to_s3(desk: Desk, tmp_path: Path) -> None:
    lines = catalogue(160, "large", "x" * 30_000)
    path = written(tmp_path, lines)
    assert path.stat().st_size > 4_500_000
    posted = desk.sent()
    desk.send_file(path, "Preview import")
    desk.button("Continue to the preview").click(timeout=MINUTES)
    expect(desk.page.locator("header .badge")).to_have_text("Completed", timeout=MINUTES)
    expect(desk.page.locator(".tile").first).to_have_text("Would be created160")
    assert [url for url in posted if "/api/" not in url]
    assert not [url for url in posted if url.endswith("/products/import")]
    assert desk.api.get("products?search=large-1")["total"] == 0


@pytest.mark.journey
def test_an_unrecognised_file_is_mapped_previewed_and_imported(desk: Desk, tmp_path: Path) -> None:
    desk.open("/import")
    with desk.page.expect_download() as download:
        desk.button("Download template").click()
    assert Path(download.value.path()).read_text().startswith("slug,name")
    desk.button("Import").click()
    expect(desk.field("file").locator(".error")).to_have_text("Choose a file first.")
    lines = [
        "Artikelname;Preis;Menge;Farbcode",
        "Mapped mug;12,50;7;#fff",
        "Mapped hat;9,00;3;#000",
    ]
    desk.page.locator("input[type=file]").set_input_files(written(tmp_path, lines))
    desk.button("Preview import").click()
    expect(desk.page.locator("header .badge")).to_have_text("Needs your input", timeout=MINUTES)
    columns, width = desk.field("columns"), "each => each.getBoundingClientRect().width"
    page = columns.locator("xpath=ancestor::form").evaluate(width)
    assert columns.evaluate(width) > 0.9 * page
    for select in columns.get_by_role("combobox").all():
        assert select.evaluate(width) >= 140
    name = desk.label("Import Artikelname as")
    expect(name).to_have_value("name")
    name.select_option("")
    desk.button("Continue to the preview").click()
    expect(desk.page.locator("form .notice, form .error:not(:empty)").first).to_be_visible()
    name.select_option("name")
    desk.label("Import Preis as").select_option("price")
    desk.label("Import Menge as").select_option("stock")
    said = desk.page.get_by_text("2 rows become 2 products with 2 variants.")
    expect(said).to_be_visible()
    above = desk.button("Continue to the preview").bounding_box()
    assert above["y"] + above["height"] <= said.bounding_box()["y"], "it covers no button"
    foreseen = desk.page.get_by_role("region", name="Result").get_by_role("row")
    expect(foreseen.filter(has_text="Mapped mug")).to_contain_text("12.50 · 7 in stock")
    expect(desk.label("Header")).to_have_value("1")
    desk.button("Continue to the preview").click()
    expect(desk.page.locator("header .badge")).to_have_text("Completed", timeout=MINUTES)
    expect(desk.page.locator(".tile").first).to_have_text("Would be created2")
    preview = desk.page.get_by_role("region", name="Preview").get_by_role("row")
    expect(preview.filter(has_text="Mapped mug")).to_contain_text("12.50")
    assert desk.api.get("products?search=mapped")["total"] == 0
    desk.lost("**/run")
    desk.button("Import this file").click()
    expect(desk.page.locator(".toast")).to_contain_text("may or may not have been saved")
    desk.button("Import this file").click()
    expect(desk.page.locator(".tile").first).to_have_text("Created2", timeout=MINUTES)
    expect(desk.page.locator("header .badge")).to_have_text("Completed", timeout=MINUTES)
    assert desk.api.get("products?search=mapped")["total"] == 2
    jobs = desk.api.get("jobs")["data"]
    assert [job["dryRun"] for job in jobs if job.get("fileName") == "supplier.csv"][:2] == [
        False,
        True,
    ]
    desk.button("Undo import").click()
    desk.dialog.get_by_role("button", name="Undo").click()
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Undo", timeout=MINUTES)
    assert desk.api.get("products?search=mapped")["total"] == 0


def test_a_recognised_file_is_reviewed_remapped_previewed_and_imported(
    desk: Desk, tmp_path: Path
) -> None:
    path = tmp_path / "supplier.csv"
    lines = ["Handle,Title,Vendor,Variant SKU,Variant Price,Lager", "seen,Süß,Nord,S-1,7.50,4", ""]
    path.write_bytes("\n".join(lines).encode("cp1252"))
    desk.send_file(path, "Preview import")
    expect(desk.page.locator("header .badge")).to_have_text("Needs your input", timeout=MINUTES)
    expect(desk.page.get_by_role("heading", name="Shopify product export")).to_be_visible()
    expect(desk.label("Format")).to_have_value("shopify")
    samples = desk.page.get_by_role("region", name="Columns").get_by_role("row")
    desk.label("Encoding").select_option("cp1253")
    desk.button("Read again").click()
    expect(samples.filter(has_text="Süß")).to_have_count(0, timeout=MINUTES)
    desk.label("Encoding").select_option("cp1252")
    desk.button("Read again").click()
    expect(samples.filter(has_text="Süß")).to_be_visible(timeout=MINUTES)
    desk.label("Import Vendor as").select_option("")
    desk.label("Import Lager as").select_option("stock")
    desk.button("Continue to the preview").click()
    expect(desk.page.locator("header .badge")).to_have_text("Completed", timeout=MINUTES)
    expect(desk.page.get_by_role("region", name="Preview")).to_contain_text("Süß")
    desk.button("Import this file").click()
    expect(desk.page.locator(".tile").first).to_have_text("Created1", timeout=MINUTES)
    (product,) = desk.api.get("products?search=S-1")["data"]
    assert (product["name"], product["vendor"]) == ("Süß", None)
    assert product["variants"][0]["stock"] == 4


def test_an_ambiguous_encoding_is_chosen_by_its_words(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "supplier.csv"
    path.write_bytes("slug,name,price\ntricko,Červené tričko,9\n".encode("cp1250"))
    desk.send_file(path)
    desk.page.get_by_role("heading", name="Choose the encoding").wait_for(timeout=MINUTES)
    words = desk.label("Words of the file")
    expect(words).to_contain_text("Červené")
    words.select_option("cp1250")
    desk.button("Use this encoding").click()
    expect(desk.page.locator("header .badge")).to_have_text("Completed", timeout=MINUTES)
    (product,) = desk.api.get("products?search=tricko")["data"]
    assert product["name"] == "Červené tričko"


def test_a_file_dropped_next_to_the_box_is_accepted(desk: Desk) -> None:
    desk.open("/import")
    files = desk.page.evaluate_handle(
        """() => {
            const dropped = new DataTransfer();
            for (const name of ["first.csv", "second.csv"])
                dropped.items.add(new File(["slug,name,price\\n"], name));
            return dropped;
        }"""
    )
    desk.page.dispatch_event("h1", "drop", {"dataTransfer": files})
    expect(desk.field("file")).to_contain_text("first.csv")
    expect(desk.field("file").locator(".error")).to_have_text(
        "Only one file can be imported at a time. The first one was chosen."
    )
    desk.heading("Import")


def test_an_upload_continues_with_another_key_after_a_revocation(
    desk: Desk, another: Callable[..., Desk], tmp_path: Path
) -> None:
    desk.open("/import")
    desk.page.locator("input[type=file]").set_input_files(written(tmp_path, catalogue(2, "keyed")))
    successor = another().api
    successor.call("DELETE", f"keys/{desk.api.get('me')['id']}")
    desk.button("Import").click()
    desk.sign_in_again(successor.key)
    desk.heading("supplier.csv")
    expect(desk.page.locator("header .badge")).to_have_text("Completed", timeout=MINUTES)
