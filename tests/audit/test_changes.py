"""What an audit entry tells of the difference between two versions of a record."""

from typing import Any

import pytest

from chalicelib.values.changes import LONGEST, MOST, clear_personal, list_changes

LINES = [{"id": "li_1", "quantity": 1}, {"id": "li_2", "quantity": 2}]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"price": "1.00"}, {"price": "2.00"}, {"price": ("1.00", "2.00")}),
        ({"a": None, "b": ""}, {"a": "", "b": None}, {}),
        ({"on": False, "n": 0}, {"on": True, "n": 1}, {"on": (False, True), "n": (0, 1)}),
        ({"tags": ["a"]}, {"tags": ["a", "b"]}, {"tags": ('["a"]', '["a", "b"]')}),
        ({"at": None}, {"at": {"city": "Ulm"}}, {"at.city": (None, "Ulm")}),
        ({"at": {"city": "Ulm"}}, {"at": None}, {"at.city": ("Ulm", None)}),
        (
            {"lines": LINES},
            {"lines": [{"id": "li_1", "quantity": 3}, LINES[1]]},
            {"lines[li_1].quantity": (1, 3)},
        ),
        ({"lines": LINES}, {"lines": LINES[1:]}, {"lines[li_1].quantity": (1, None)}),
        ({"lines": []}, {"lines": LINES[:1]}, {"lines[li_1].quantity": (None, 1)}),
        (
            {"lines": LINES},
            {"lines": LINES[::-1]},
            {"lines": ('["li_1", "li_2"]', '["li_2", "li_1"]')},
        ),
        (
            {"lines": [{"id": "a", "parts": [{"id": "b", "n": 1}]}]},
            {"lines": [{"id": "a", "parts": [{"id": "b", "n": 2}]}]},
            {"lines[a].parts[b].n": (1, 2)},
        ),
        ({"updatedAt": "1", "id": "x"}, {"updatedAt": "2", "id": "y"}, {}),
        ({"x": {"updatedAt": 1}}, {"x": {"updatedAt": 2}}, {"x.updatedAt": (1, 2)}),
        # Created or deleted: its own fields.
        (
            None,
            {"name": "Mug", "sku": None, "tax": "0.00", "variants": LINES},
            {"name": (None, "Mug")},
        ),
        ({"name": "Mug", "variants": LINES}, None, {"name": ("Mug", None)}),
    ],
)
def test_a_change_names_the_field_and_both_values(before: Any, after: Any, expected: Any) -> None:
    found = list_changes("product", before, after)
    assert {one["field"]: (one["before"], one["after"]) for one in found} == expected


def test_at_most_fifty_changes_with_texts_of_at_most_200_characters() -> None:
    before = {f"f{n}": "x" * 300 for n in range(80)}
    for after in (dict.fromkeys(before, "y" * 300), None):
        found = list_changes("product", before, after)
        assert len(found) == MOST == 50
        assert found[0]["before"] == "x" * 199 + "…" and LONGEST == 200
    listed = list_changes("product", {"tags": ["x" * 300]}, {"tags": ["y" * 300]})
    assert len(listed[0]["after"]) == 200


def test_what_is_a_persons_is_cleared_and_not_told_of_a_new_or_a_deleted_record() -> None:
    customer = {"email": "ann@example.com", "firstName": "Ann"}
    order = {"status": "PAID", "note": "for Ann", "externalId": "ann-1"}
    for kind, record, left in (("customer", customer, []), ("order", order, ["status"])):
        assert [one["field"] for one in list_changes(kind, None, record)] == left
        assert [one["field"] for one in list_changes(kind, record, None)] == left
    before = {"shippingAddress": {"city": "Ulm"}, "status": "PENDING", "payments": []}
    paid = {"id": "pay_1", "reference": "Ann", "amount": "5.00"}
    after = {"shippingAddress": {"city": "Köln"}, "status": "PAID", "payments": [paid]}
    left = clear_personal("order", list_changes("order", before, after))
    assert {one["field"]: (one["before"], one["after"]) for one in left} == {
        "shippingAddress.city": (None, None),
        "status": ("PENDING", "PAID"),
        "payments[pay_1].reference": (None, None),
        "payments[pay_1].amount": (None, "5.00"),
    }
    named = list_changes("customer", {"metadata": {}}, {"metadata": {"Ann Example": {"a": 1}}})
    assert clear_personal("customer", named) == [
        {"field": "metadata", "before": None, "after": None}
    ]
