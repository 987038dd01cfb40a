"""What counts as a difference between the double and AWS's own engine (`make conformance`)."""

from tests.conformance.compare import difference


def test_differences_in_wording_are_ignored() -> None:
    one = (200, {"Item": {"n": {"N": "1.50"}, "s": {"SS": ["b", "a"]}}, "Count": 1})
    other = (200, {"Item": {"s": {"SS": ["a", "b"]}, "n": {"N": "1.5"}}})
    assert difference(one, other) is None
    several = [{"n": {"N": "59.70"}}, {"n": {"N": "100"}}]
    same = [{"n": {"N": "1E2"}}, {"n": {"N": "59.7"}}]
    batches = [(200, {"Responses": {"table": items}}) for items in (several, same)]
    assert difference(*batches, "BatchGetItem") is None
    scans = [(200, {"Items": items}) for items in (several, same)]
    assert difference(*scans, "Scan") is None


def test_differences_that_programs_rely_on_are_reported() -> None:
    found = (200, {"Items": [{"n": {"N": "1"}}, {"n": {"N": "2"}}]})
    assert difference(found, (200, {"Items": found[1]["Items"][::-1]})) == "another Items"
    assert difference(found, (200, {"Items": found[1]["Items"][::-1]}), "Scan") is None
    assert difference(found, (200, {"Items": found[1]["Items"][:1]}), "Scan") == "another Items"
    assert difference(found, (200, {**found[1], "LastEvaluatedKey": {"sk": {"S": "a"}}}))
    refused = (400, {"__type": "com.amazonaws.dynamodb.v20120810#ValidationException"})
    assert difference(found, refused) == "ValidationException instead of "
    cancelled = "TransactionCanceledException"
    reasons = [{"Code": "None"}, {"Code": "ConditionalCheckFailed", "Item": {"n": {"N": "1"}}}]
    engine = (400, {"__type": cancelled, "CancellationReasons": reasons})
    assert difference(engine, (400, {"__type": cancelled, "CancellationReasons": reasons[::-1]}))
    without = [{"Code": "None"}, {"Code": "ConditionalCheckFailed"}]
    assert difference(engine, (400, {"__type": cancelled, "CancellationReasons": without}))
