"""Bodies, queries and paths are parsed correctly, or refused by name."""

import json
from datetime import UTC, datetime, timedelta, timezone
from functools import cache, partial
from operator import sub
from typing import Any, get_args
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError, create_model
from pydantic.fields import FieldInfo

from chalicelib.problems import Invalid
from chalicelib.request.routes import operations
from chalicelib.schemas import PageQuery
from chalicelib.validation import filters
from chalicelib.values import clock
from chalicelib.values.timezone import parse_period
from tests.support.shop import Answer, Shop
from tests.support.strict_json import strict

RING = {"lineItems": [{"title": "Ring", "price": 1, "quantity": 1}]}
ONE_SHOP = [HealthCheck.function_scoped_fixture]  # for all examples


def raw(shop: Shop, body: bytes, **headers: str) -> Answer:
    sent = {"Content-Type": "application/json", **headers}
    return shop.post("/api/trial/raw", body, headers=sent)


def errors(answer: Answer) -> list[tuple[str, str]]:
    assert (answer.status, answer.json["code"]) == (422, "validation_failed")
    return [(error["field"], error["code"]) for error in answer.json["errors"]]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"  ",
        b"{",
        b"{'a': 1}",
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": 1, "a": 2}',
        b'{"a": {"b": 1, "b": 1}}',
        b'{"a": "\\ud800"}',
        b'{"a": "\\udc00\\ud800"}',
        b'{"\\uD83D": 1}',
        b"1" * 900 + b"e" + b"1" * 90,
    ],
)
def test_a_body_that_is_not_json_is_refused(trial: Shop, body: bytes) -> None:
    answer = raw(trial, body)
    assert (answer.status, answer.json["code"]) == (400, "malformed_json")
    assert ("is empty" in answer.json["message"]) is (not body.strip())


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (b'{"b": 1, "a": 1, "c": 1, "a": 2}', "a"),
        (b'{"%b": 1, "%b": 1}' % (b"x" * 300, b"x" * 300), "x" * 100),
    ],
)
def test_the_name_that_a_body_has_twice_is_told(trial: Shop, body: bytes, name: str) -> None:
    assert raw(trial, body).json["message"] == f"The body names {name!r} twice in one object."


def nested(levels: int) -> bytes:
    """Nested objects and arrays, and text that looks like them."""
    arrays = levels // 2
    begin, end = '[{"[{\\"[": ', "}]"
    rest = ('["[[[\\\\"]', "") if levels % 2 else ("1", "")
    return (begin * arrays + rest[0] + end * arrays).encode()


@pytest.mark.parametrize("levels", [31, 32])
def test_a_body_may_be_nested_up_to_32_levels(trial: Shop, levels: int) -> None:
    body = nested(levels)
    assert raw(trial, body).json == [json.loads(body)]


@pytest.mark.parametrize("levels", [33, 34, 967, 5_000])
def test_a_deeper_body_is_refused_on_every_python_alike(trial: Shop, levels: int) -> None:
    kind = {"Content-Type": "application/json"}
    answer = trial.post("/api/trial/things", nested(levels), headers=kind)
    assert (answer.status, answer.json["code"]) == (400, "malformed_json")
    assert "32 levels" in answer.json["message"]


@pytest.mark.parametrize("pair", ["[]", "{}"])
def test_what_is_side_by_side_is_not_nested(trial: Shop, pair: str) -> None:
    wide = ",".join([pair] * 40)
    assert raw(trial, f"[{wide}]".encode()).status == 200
    deep = "[" * 32 + pair + "]" * 32
    assert raw(trial, f"[{wide},{deep}]".encode()).status == 400


def test_the_depth_of_a_body_is_found_in_linear_time(trial: Shop) -> None:
    """A search in quadratic time would not end."""
    kind = {"Content-Type": "application/json"}
    for hostile in ('"' + '\\"' * 400_000, "[" * 33 + '"' * 400_001, '["' + "\\" * 800_000):
        answer = trial.post("/api/trial/things", hostile.encode(), headers=kind)
        assert answer.json["code"] == "malformed_json"


@pytest.mark.parametrize(
    "number", ["1" * 309, "-" + "9" * 309, "9.9e308", "1e308", "1e-308", "0." + "1" * 399]
)
def test_a_number_beyond_a_double_is_refused(trial: Shop, number: str) -> None:
    answer = raw(trial, f'{{"a": {number}}}'.encode())
    assert (answer.status, answer.json["code"]) == (400, "malformed_json")


@pytest.mark.parametrize(
    "number",
    ["9" * 308, "9.99e307", "-1e307", "1e-307", "-0.0", "0e999999", "1e15", "0." + "1" * 398],
)
def test_every_accepted_number_is_returned_as_a_finite_one(trial: Shop, number: str) -> None:
    (answered,) = strict(raw(trial, number.encode()).text)
    assert answered == float(number)


@settings(max_examples=100, suppress_health_check=ONE_SHOP)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=20,
    )
)
def test_an_accepted_body_is_returned_as_strict_json(trial: Shop, sent: Any) -> None:
    answer = raw(trial, json.dumps(sent).encode())
    if answer.status == 200:
        assert strict(answer.text) == [json.loads(json.dumps(sent), parse_int=float)]
    else:
        refusals = {"malformed_json", "payload_too_large"}
        refusals |= {"validation_failed"} if "\\u0000" in json.dumps(sent) else set()
        assert answer.json["code"] in refusals


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"a": "\\ud83d\\ude00 \xc3\xa9"}', {"a": "😀 é"}),
        (b"[1, 19.90, null, true, 1e2]", [1, 19.9, None, True, 100]),
        (b'{"a": 0.1}', {"a": 0.1}),
        (b"12345678901234567890", 12345678901234567890),
    ],
)
def test_a_json_body_is_parsed_correctly(trial: Shop, body: bytes, value: Any) -> None:
    assert raw(trial, body).json == [value]


@settings(max_examples=150, suppress_health_check=ONE_SHOP)
@given(
    st.one_of(
        st.binary(max_size=200),
        st.text(alphabet='{}[]",:0123456789eE+-.\\ud8NaInf ', max_size=40).map(str.encode),
    )
)
def test_no_body_causes_a_server_error(trial: Shop, body: bytes) -> None:
    assert raw(trial, body).status in {200, 400, 422}


def test_a_body_of_another_content_type_is_refused(trial: Shop) -> None:
    bodiless = trial.get("/api/trial/things", headers={"Content-Type": "text/plain"})
    assert bodiless.status == 200
    for kind in ("text/plain", "application/x-www-form-urlencoded", "image/png", "*/*", "x" * 500):
        answer = trial.post("/api/trial/raw", b"{}", headers={"content-type": kind})
        assert (answer.status, answer.json["code"]) == (415, "unsupported_media_type")
        assert f"this is '{kind[:100]}'" in answer.json["message"]
    for kind in ("application/json; charset=utf-8", "Application/JSON"):
        assert trial.post("/api/trial/raw", b"{}", headers={"content-type": kind}).status == 200


def test_a_body_that_is_too_large_is_refused(trial: Shop) -> None:
    answer = raw(trial, b'"' + b"x" * 999 + b'"')
    assert (answer.status, answer.json["code"]) == (413, "payload_too_large")
    assert raw(trial, '"é"'.encode() + b" " * 996).status == 200
    assert raw(trial, ('"' + "é" * 500 + '"').encode()).status == 413


def test_a_file_arrives_byte_for_byte(trial: Shop) -> None:
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    assert trial.post("/api/trial/file", bytes(range(256)), headers=kind).json == {"size": 256}
    assert trial.post("/api/trial/file", b"x" * 1001, headers=kind).status == 413
    assert trial.post("/api/trial/file", {"no": "file"}).status == 415


@pytest.mark.parametrize("body", [b"[]", b'"text"', b"null", b"1"])
def test_a_body_must_be_an_object(trial: Shop, body: bytes) -> None:
    answer = trial.post("/api/trial/things", body)
    assert errors(answer) == [("body", "invalid_type")]


def test_every_invalid_field_is_reported(trial: Shop) -> None:
    parts = [{"unitPrice": 1}, {"unitPrice": -1}, {"unitPrice": "much"}, 7]
    sent = {"nmae": "x", "full_name": "y", "parts": parts}
    assert sorted(errors(trial.post("/api/trial/things", sent))) == [
        ("fullName", "required"),
        ("full_name", "unknown_field"),
        ("nmae", "unknown_field"),
        ("parts.1.unitPrice", "out_of_range"),
        ("parts.2.unitPrice", "invalid_type"),
        ("parts.3", "invalid_type"),
    ]


@pytest.mark.parametrize(
    ("asked", "code", "message"),
    [
        ({"source": "X" * 51}, "too_long", "must have 50 characters or fewer"),
        ({"lineItems": [{"variantId": "", "quantity": 1}]}, "too_short", "must not be blank"),
        ({"lineItems": []}, "too_short", "must not be empty"),
        ({"payments": [{"amount": 1, "voidedAt": "2026-01-01"}]}, "invalid", "must be null"),
    ],
)
def test_an_error_says_what_is_expected_in_our_words(
    shop: Shop, asked: dict[str, Any], code: str, message: str
) -> None:
    sent = {"lineItems": [{"variantId": "var_1", "quantity": 1}], **asked}
    (error,) = shop.post("/api/admin/orders", sent).json["errors"]
    assert (error["code"], error["message"]) == (code, message)


def test_a_number_of_thousands_of_digits_is_out_of_range(shop: Shop) -> None:
    (error,) = shop.get(f"/api/admin/orders?page={'9' * 5000}").json["errors"]
    assert (error["code"], error["message"]) == ("out_of_range", "has too many digits")


def test_an_edit_by_what_is_no_number_is_refused_in_plain_words(shop: Shop) -> None:
    for written in ("NaN", "much", [], True):
        sent = {"ids": ["prod_1"], "change": {"price": {"percent": written}}}
        (error,) = shop.post("/api/admin/products/bulk-edit", sent).json["errors"]
        assert (error["code"], error["message"]) == ("invalid_type", "must be a number"), written


def test_at_most_100_errors_of_a_body_are_reported(trial: Shop) -> None:
    found = errors(trial.post("/api/trial/things", {f"{n:03}": 1 for n in range(150)}))
    assert len(found) == 100


def test_the_name_of_an_unknown_field_is_shortened(trial: Shop) -> None:
    sent = {"fullName": "x", "y" * 300: 1}
    assert errors(trial.post("/api/trial/things", sent)) == [("y" * 200, "unknown_field")]
    sent = {"fullName": "x", "parts": [{"unitPrice": 1, "y" * 300: 1}]}
    assert errors(trial.post("/api/trial/things", sent)) == [
        (f"parts.0.{'y' * 192}", "unknown_field")
    ]


def test_a_resource_can_be_sent_back_as_it_was_read(trial: Shop) -> None:
    sent = {"id": "t1", "createdAt": "?", "fullName": "x", "parts": [{"id": 1, "unitPrice": 2}]}
    answer = trial.post("/api/trial/things", sent)
    assert answer.json == {"fullName": "x", "parts": [{"unitPrice": 2}]}


def test_query_parameters_have_defaults_and_limits(trial: Shop) -> None:
    defaults = {"page": 1, "limit": 20, "status": [], "search": None}
    assert trial.get("/api/trial/things").json == defaults
    assert trial.get("/api/trial/things?limit=101").json["limit"] == 100
    assert trial.get("/api/trial/things?limit=100&page=3").json["page"] == 3
    assert trial.get("/api/trial/things?limit=&search=").json["limit"] == 20
    assert trial.get("/api/trial/things?unknown=1&Page=0").json["page"] == 1


@pytest.mark.parametrize(
    "value", ["0", "-1", "NaN", "1.5", "1e3", "1_0", "%2B1", "1.0", "x", "%00", "9" * 5000]
)
@pytest.mark.parametrize("name", ["page", "limit"])
def test_a_page_that_is_not_a_number_is_refused(trial: Shop, name: str, value: str) -> None:
    assert errors(trial.get(f"/api/trial/things?{name}={value}"))[0][0] == name


def test_no_whole_number_of_a_query_has_an_underscore() -> None:
    """Python reads `1_0` as 10."""
    asked = {each.query for each in operations.values() if each.query}
    numbers = [
        (query, field.alias)
        for query in asked
        for field in query.model_fields.values()
        if field.annotation in (int, int | None)
    ]
    assert {name for _, name in numbers} == {"page", "limit", "headerRow"}
    for query, name in numbers:
        with pytest.raises(ValidationError, match=f"(?s)\n{name}\n.*whole number|int_parsing"):
            query.model_validate({name: "1_0"})


@pytest.mark.parametrize(
    "asked", ["status=A&status=B", "status=A,B", "status=A,&status=%20B", "status=A%2CB"]
)
def test_a_list_parameter_is_comma_separated_or_repeated(trial: Shop, asked: str) -> None:
    assert trial.get(f"/api/trial/things?{asked}").json["status"] == ["A", "B"]


class Filters(PageQuery):
    created_from: str | None = None


def test_the_filters_in_a_body_have_the_names_of_the_parameters() -> None:
    assert filters(Filters, {"createdFrom": "x"}, "filters").created_from == "x"
    for name in ("created_from", "limit", "y" * 300):
        with pytest.raises(Invalid) as refused:
            filters(Filters, {name: "x"}, "filters")
        (error,) = refused.value.extra["errors"]
        assert (error["field"], error["code"]) == (f"filters.{name[:200]}", "unknown_parameter")
        assert error["message"] == "is not a filter here; there are createdFrom"
    with pytest.raises(Invalid, match="filters: must be a JSON object"):
        filters(Filters, ["createdFrom"], "filters")


@pytest.mark.parametrize(
    ("written", "meant"), [("a%20b", "a b"), ("%C3%A9", "é"), ("a+b", "a+b"), ("a%2Fb", "a/b")]
)
def test_a_path_is_unescaped(trial: Shop, written: str, meant: str) -> None:
    assert trial.get(f"/api/trial/things/{written}").json == {"id": meant}


def test_a_nul_in_a_text_is_refused_by_its_field(shop: Shop) -> None:
    product = {"name": "A", "price": 1, "variants": [{"title": "S", "sku": "a\0b"}]}
    answer = shop.post("/api/admin/products", product)
    assert errors(answer) == [("variants.0.sku", "invalid")]


@pytest.mark.parametrize("moment", ["20261123", "1795447561", "1795447561.5", "1.7e9", 1795447561])
def test_a_number_is_no_time(shop: Shop, moment: object) -> None:
    """`20261123` would be a day of 1970."""
    admin = "/api/admin"
    id = "wh_01M7VRXKVG0000000000000103"
    key = {"name": "x", "role": "READER", "expiresAt": moment}
    for refused, field in (
        (shop.get(f"{admin}/events?since={moment}"), "since"),
        (shop.get(f"{admin}/deliveries?since={moment}"), "since"),
        (shop.post(f"{admin}/webhooks/{id}/recover", {"since": moment}), "since"),
        (shop.post(f"{admin}/keys", key), "expiresAt"),
    ):
        assert refused.refused == [field]


@pytest.mark.parametrize("moment", ["1795447561", "1795447561.5", "1.7e9"])
def test_a_number_is_no_day(shop: Shop, moment: str) -> None:
    for path, name in (("orders", "from"), ("orders", "to"), ("transactions", "to")):
        refused = shop.get(f"/api/admin/{path}?{name}={moment}")
        assert refused.refused == [name]


# --- Text that a gateway has decoded --------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_body_in_another_encoding_is_refused_though_the_gateway_decodes_it(
    shop: Shop, encoding: str
) -> None:
    headers = {"Content-Type": "application/json"}
    for name in ("Café", *(["Cup"] if "utf-16" in encoding else [])):  # which has NULs alone
        body = json.dumps({"name": name, "price": 1}, ensure_ascii=False).encode(encoding)
        answer = shop.post("/api/admin/products", body, headers=headers)
        assert (answer.status, answer.json["code"]) == (400, "malformed_json")
        assert "not UTF-8" in answer.json["message"]
    assert shop.get("/api/admin/products").json["total"] == 0


def test_a_body_may_begin_with_a_mark_of_its_order_and_have_an_escaped_u_fffd(trial: Shop) -> None:
    assert raw(trial, "\ufeff[1]".encode()).json == [[1]]
    assert raw(trial, b'"\\ufffd"').json == ["\ufffd"]


@pytest.mark.parametrize("charset", ["iso-8859-1", '"windows-1252"', "UTF-16"])
def test_a_charset_other_than_utf_8_is_refused(trial: Shop, charset: str) -> None:
    answer = raw(trial, b"{}", **{"Content-Type": f"application/json; charset={charset}"})
    assert (answer.status, answer.json["code"]) == (415, "unsupported_media_type")


def test_a_parameter_or_a_header_in_another_encoding_is_refused(shop: Shop) -> None:
    for path in ("products?search=caf%E9", "orders?tag=caf%E9", "orders?caf%E9=1"):
        answer = shop.get(f"/api/admin/{path}")
        assert (answer.status, answer.json["code"]) == (400, "not_utf8")
    assert shop.get("/api/products?search=caf%E9").status == 400
    assert shop.get("/api/products?utm_source=caf%E9").status == 200  # of a link, not of the shop
    sent, named = {"name": "Cup", "price": 1}, {"Idempotency-Key": "caf\ufffd"}
    answer = shop.post("/api/admin/products", sent, headers=named)
    assert (answer.status, answer.json["field"]) == (400, "idempotency-key")


# --- Times ----------------------------------------------------------------------------------------


def test_a_time_without_an_offset_is_one_of_the_shops_zone(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIMEZONE", "America/New_York")
    late = {**RING, "orderDate": "2026-11-20T23:30:00"}
    order = shop.post("/api/admin/orders", late).json
    assert order["orderDate"] == "2026-11-21T04:30:00.000Z"
    paid = {"receivedAt": "2026-11-20 23:45"}
    payments = shop.post(f"/api/admin/orders/{order['id']}/payments", paid).json["payments"]
    assert payments[0]["receivedAt"] == "2026-11-21T04:45:00.000Z"
    for bounds, total in (
        ("from=2026-11-20T23:30&to=2026-11-20T23:31", 1),
        ("from=2026-11-20&to=2026-11-20", 1),
        ("from=2026-11-20T23:31", 0),
    ):
        assert shop.get(f"/api/admin/orders?{bounds}").json["total"] == total, bounds
    expires = {"name": "Till", "role": "STAFF", "expiresAt": "2036-07-01T00:00:00"}
    key = shop.post("/api/admin/keys", expires).json
    assert key["expiresAt"] == "2036-07-01T04:00:00.000Z"


def fields_of(shape: Any, path: str = "") -> dict[str, FieldInfo]:
    """The fields of a model and of the models within it, by their path."""
    found: dict[str, FieldInfo] = {}
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        for name, field in shape.model_fields.items():
            at = f"{path}.{field.alias or name}"
            found |= {at: field, **fields_of(field.annotation, at)}
    for part in get_args(shape):
        found |= fields_of(part, path)
    return found


def accepts(reader: type[BaseModel], sent: str) -> bool:
    try:
        reader.model_validate({"time": sent})
    except ValidationError:
        return False
    return True


@cache
def time_readers() -> dict[str, type[BaseModel]]:
    """The reader of each field of a request that takes a time, by `METHOD path.field`: it accepts
    a time, and no 30 February."""
    found: dict[str, type[BaseModel]] = {}
    for (method, path), operation in operations.items():
        for part in (operation.body, operation.query):
            for at, field in fields_of(part, f"{method} {path}").items():
                reader = create_model("Reader", time=(field.rebuild_annotation(), ...))
                times = (clock.iso(clock.now() + timedelta(hours=1)), "2024-02-30T10:00:00Z")
                if [accepts(reader, one) for one in times] == [True, False]:
                    found[at] = reader
    assert len(found) >= 23, sorted(found)
    return found


WRITTEN = {
    "T": lambda local: local.isoformat(),
    " ": lambda local: local.isoformat(" "),
    "milliseconds": lambda local: local.isoformat(timespec="milliseconds"),
    "minutes": lambda local: local.isoformat(timespec="minutes"),
    "Z": lambda local: local.replace(tzinfo=None).isoformat() + "Z",
    "z": lambda local: local.replace(tzinfo=None).isoformat().lower() + "z",
    "+05:30": lambda local: local.replace(tzinfo=None).isoformat() + "+05:30",
    "-05": lambda local: local.replace(tzinfo=None).isoformat(" ") + "-05",  # PostgreSQL
    "\u2212": lambda local: local.replace(tzinfo=None).isoformat() + "\u221205:00",
}
OFFSETS = {"Z": 0, "z": 0, "+05:30": 5.5, "-05": -5, "\u2212": -5}


@settings(max_examples=60, suppress_health_check=ONE_SHOP)
@given(
    st.sampled_from(["America/New_York", "Asia/Kolkata", "Pacific/Apia", "Europe/Dublin", "UTC"]),
    st.datetimes(datetime(2001, 1, 1), datetime(2037, 1, 1)),
    st.sampled_from(sorted(WRITTEN)),
)
@example("America/New_York", datetime(2025, 11, 2, 1, 30), "T")  # which occurs twice
@example("America/New_York", datetime(2026, 3, 8, 2, 30), "T")  # which does not occur
def test_every_field_reads_a_time_alike(zone: str, local: datetime, form: str) -> None:
    local = local.replace(microsecond=local.microsecond // 1_000 * 1_000)
    if form == "minutes":
        local = local.replace(second=0, microsecond=0)
    elif form == "T":
        local = local.replace(fold=0)
    at = timezone(timedelta(hours=OFFSETS[form])) if form in OFFSETS else ZoneInfo(zone)
    meant = local.replace(tzinfo=at).astimezone(UTC)
    ends = (clock.iso(meant), clock.iso(meant + timedelta(milliseconds=1)))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TIMEZONE", zone)
        patched.setattr(clock, "now", lambda: meant - timedelta(hours=1))  # a key expires later
        for field, reader in time_readers().items():
            read = reader.model_validate({"time": WRITTEN[form](local)}).time  # type: ignore[attr-defined]
            text = clock.iso(read) if isinstance(read, datetime) else read
            assert parse_period(text, text) == ends, field


@pytest.mark.parametrize("path", ["orders?from", "orders?to", "events?since"])
def test_a_plus_that_was_not_escaped_is_named(shop: Shop, path: str) -> None:
    (error,) = shop.get(f"/api/admin/{path}=2026-11-20T06:12:14+02:00").json["errors"]
    assert "%2B" in error["message"]


@pytest.mark.parametrize("behind", [timedelta(seconds=3), timedelta(0)])
@pytest.mark.parametrize(
    ("path", "new", "method", "change"),
    [
        ("products", {"name": "Cup", "price": 1}, "PUT", {"name": "Mug"}),
        ("orders", RING, "PATCH", {"note": "x"}),
        ("customers", {"email": "ada@example.com"}, "PATCH", {"firstName": "Ada"}),
    ],
)
def test_a_record_is_never_changed_before_its_last_change(  # noqa: PLR0917
    shop: Shop,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    new: Any,
    method: str,
    change: Any,
    behind: timedelta,
) -> None:
    made = shop.post(f"/api/admin/{path}", new).json
    written = clock.parse(made["updatedAt"])
    monkeypatch.setattr(clock, "now", partial(sub, written, behind))
    after = shop.call(method, f"/api/admin/{path}/{made['id']}", change).json
    assert after["updatedAt"] == clock.iso(written + timedelta(milliseconds=1))
