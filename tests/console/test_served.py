"""The console's files as API Gateway serves them."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Final, get_args

import pytest

from chalicelib.api_keys.model import Role
from chalicelib.console import routes
from chalicelib.exports.model import ExportColumns, ExportFormat
from chalicelib.files.model import FileError
from chalicelib.imports import formats
from chalicelib.imports.csv.encodings import KNOWN
from chalicelib.imports.csv.rows import DELIMITERS
from chalicelib.imports.model import Delimiter, ImportMode
from chalicelib.values import addresses
from tests.support.shop import Answer, Shop

MADE: Final = Path(routes.__file__).parent / "static"
SOURCES: Final = Path("console/src")
SCRIPTS: Final = sorted(path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.js"))


class Links(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attributes}
        self.addresses += [value or "" for name, value in attributes if name in {"href", "src"}]


def opened(shop: Shop) -> Answer:
    answer = shop.get("/console")
    assert answer.status == 200
    return answer


def assets(shop: Shop) -> str:
    found = re.search(r"console/assets/[0-9a-f]+/", opened(shop).text)
    assert found
    return f"/{found.group()}"


def test_every_link_on_the_page_is_relative_and_has_a_file(shop: Shop) -> None:
    links = Links(opened(shop).text)
    icon, *files = links.addresses
    assert icon.startswith("data:image/svg+xml,") and len(files) == 3
    for address in files:
        assert address.startswith("console/assets/")
        assert shop.get(f"/{address}").status == 200


def test_every_constant_that_a_script_reads_is_its_own_or_imported() -> None:
    for script in SCRIPTS:
        text = (SOURCES / script).read_text()
        known = {"CSS", "JSON", "URL", *re.findall(r"const (\w+)", text)}
        for names in re.findall(r"import \{([^}]*)\} from", text):
            known.update(re.findall(r"\w+", names))
        assert set(re.findall(r"\b([A-Z][A-Z_]+)[\[.][a-z]", text)) <= known, script


def test_every_page_of_the_router_is_in_a_script() -> None:
    pages = re.findall(r'\["/[^"]*", "([a-z-]+)"[\],]', (SOURCES / "router.js").read_text())
    assert {"home", "products", "delivery"} <= set(pages)
    names = ("lists", "production", "records", "reports", "rest", "stock")
    scripts = "".join((SOURCES / f"{name}.js").read_text() for name in names)
    sent = re.findall(r'^export \{ show as "?([\w-]+)"? \} from "\./pages/\1\.js";$', scripts, re.M)
    assert sorted({*pages, "nowhere"}) == sorted(["home", *sent])


def test_files_are_text_that_browsers_cache(shop: Shop) -> None:
    answer = shop.get(f"{assets(shop)}lists.js")
    assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert "immutable" in answer.headers["Cache-Control"]
    assert answer.text == (MADE / "lists.js").read_text()


def test_the_page_is_revalidated_on_each_load(shop: Shop) -> None:
    page = opened(shop)
    assert page.headers["Cache-Control"] == "no-cache"
    again = shop.get("/console", headers={"If-None-Match": page.headers["ETag"]})
    assert (again.status, again.text) == (304, "")
    assert shop.get("/console", headers={"If-None-Match": '"older"'}).status == 200


def test_a_file_of_another_version_is_not_found(shop: Shop) -> None:
    answer = shop.get("/console/assets/0123456789ab/app.js")
    assert (answer.status, answer.headers["Cache-Control"]) == (404, "no-store")


@pytest.mark.parametrize("name", ["../routes.py", "%2e%2e/routes.py", "pages", "", "/etc/passwd"])
def test_only_the_console_files_are_served(shop: Shop, name: str) -> None:
    assert shop.get(assets(shop) + name).status == 404


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("/console/orders", "../console#/orders"),
        ("/console/orders/ord_1", "../../console#/orders/ord_1"),
        ("/console/%0d%0aSet-Cookie:x", "../console#/%0D%0ASet-Cookie%3Ax"),
        ("/console/a%20b%3Fc", "../console#/a%20b%3Fc"),
        ("/console/%zz", "../console#/%25zz"),
    ],
)
def test_a_path_below_the_console_redirects_to_that_page(
    shop: Shop, path: str, leads_to: str
) -> None:
    answer = shop.get(path)
    assert (answer.status, answer.headers["Location"]) == (302, leads_to)


def test_the_content_security_policy_allows_only_own_scripts(shop: Shop) -> None:
    page = opened(shop)
    policy = dict(
        part.strip().partition(" ")[::2]
        for part in page.headers["Content-Security-Policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["connect-src"].split() == [
        "'self'",
        "https://backroom-test-bucket.s3.us-east-1.amazonaws.com",
    ]
    links = Links(page.text)
    assert "style" not in {*links.tags, *links.attributes}
    assert not [name for name in links.attributes if name.startswith("on")]


def test_a_page_uses_only_resources_of_its_visit() -> None:
    """Requests, listeners, dialogs and timers belong to the page's visit, which ends them when the
    page is left (`visit.js`)."""
    outlives = re.compile(
        r"addEventListener|setTimeout|setInterval|requestAnimationFrame|fetch\(|XMLHttpRequest|"
        r"showModal|document\.title|location\.|history\.(?:push|replace|go|back)"
    )
    owners = {"parts/dialog.js", "parts/notice.js"}
    wrong = []
    for script in SCRIPTS:
        if not script.startswith(("pages/", "parts/")) or script in owners:
            continue
        text = (SOURCES / script).read_text()
        wrong += [f"{script}: {found}" for found in outlives.findall(text)]
        asked = re.search(r'import \{([^}]*)\} from "../api.js"', text)
        names = {name.strip() for name in asked.group(1).split(",")} if asked else set()
        wrong += [f"{script}: {name}" for name in names - {"isLeft", "address"}]
    assert wrong == []


def test_the_page_has_the_rules_of_the_api(shop: Shop) -> None:
    (text,) = re.findall(r'<script [^>]*id="facts">(.*?)</script>', opened(shop).text)
    found = json.loads(text)
    (read,) = re.findall(r"export const {(.*?)}", (SOURCES / "facts.js").read_text(), re.DOTALL)
    assert re.findall(r"\w+", read) == sorted(found)
    assert found["MOVES"]["PROCESSING"] == ["SHIPPED"]
    description = shop.get("/api/openapi.json").json
    kinds = description["components"]["schemas"]
    enums = [each["enum"] for each in kinds.values() if "order.paid" in each.get("enum", [])]
    assert enums == [found["EVENT_KINDS"]]
    texts = (SOURCES / "parts/endpoint.js").read_text()
    assert [kind for kind in found["EVENT_KINDS"] if f'"{kind}": ' not in texts] == []


def test_import_formats_and_fields_match_the_source() -> None:
    text = (SOURCES / "parts/import-columns.js").read_text()

    def said(constant: str) -> dict[str, str]:
        (block,) = re.findall(rf"const {constant} = {{(.*?)\n}};", text, re.DOTALL)
        return dict(re.findall(r'^  "?([\w-]+)"?: "(.*)",$', block, re.MULTILINE))

    assert said("LABELS").keys() < formats.FIELDS.keys()
    assert said("ENCODINGS").keys() == set(KNOWN)
    (line,) = re.findall(r"const DELIMITERS = (.*);", text)
    assert {key.replace("\\t", "\t") for key in re.findall(r'"(.|\\t)":', line)} == set(DELIMITERS)
    assert {*DELIMITERS, ""} == set(get_args(get_args(Delimiter)[0]))


@pytest.mark.parametrize(
    ("script", "constant", "names"),
    [
        ("parts/upload-form.js", "MODES", set(ImportMode)),
        ("parts/export.js", "FORMATS", {*ExportColumns, ExportFormat.JSONL}),
        ("pages/keys.js", "ROLES", set(Role)),
        ("file-upload.js", "REASONS", {*FileError, "too_large"}),
    ],
)
def test_names_with_console_labels_match_the_source(
    script: str, constant: str, names: set[str]
) -> None:
    block = (SOURCES / script).read_text().partition(f"const {constant} = ")[2].partition(";")[0]
    assert set(re.findall(r'^  (?:\[")?(\w+)"?[:,]', block, re.MULTILINE)) == names


@pytest.mark.parametrize("script", SCRIPTS)
def test_no_script_makes_markup_or_code_from_text(script: str) -> None:
    text = (SOURCES / script).read_text()
    for door in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                 "new Function", "DOMParser", "createContextualFragment", "srcdoc"):  # fmt: skip
        assert door not in text


def test_the_console_needs_no_key_and_has_no_rate_limit(shop: Shop) -> None:
    answers = [opened(shop) for _ in range(3)]
    assert {answer.headers["X-RateLimit-Remaining"] for answer in answers} == {"300"}
    assert shop.get("/api/nothing").headers["X-RateLimit-Remaining"] == "299"
    assert shop.head("/console").text == ""


def test_the_countries_match_those_of_the_api() -> None:
    text = (SOURCES / "parts/address.js").read_text()
    codes = text.partition("const CODES =")[2].partition(";")[0]
    assert re.findall("[A-Z]{2}", codes) == sorted(addresses.COUNTRIES)
