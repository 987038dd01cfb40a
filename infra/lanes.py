"""How many functions each queue may keep busy at once, in an account that runs so many in all.

What the API needs is not reserved, because a small account cannot: AWS keeps 100 for what has no
reservation, and a new account runs 10. So the others are kept to half of what there is.
"""

from collections.abc import Mapping

import boto3

# The parameters of triggers.yaml. AWS: MaximumConcurrency is 2 at least.
_WANTED = {
    "ImportsAtOnce": 20,
    "JobsAtOnce": 5,
    "DeliveriesAtOnce": 50,
    "RetriesAtOnce": 20,
    "FanOutAtOnce": 4,
}
_LEAST = {name: 1 if name == "FanOutAtOnce" else 2 for name in _WANTED}


def limit() -> int:
    """How many functions the account runs at once, in this region."""
    settings = boto3.client("lambda").get_account_settings()
    return int(settings["AccountLimit"]["ConcurrentExecutions"])


def chosen(limit: int) -> dict[str, int]:
    """By parameter: what is wanted where that is at most half of the limit, else parts of it."""
    half = max(limit // 2, sum(_LEAST.values()))
    share = min(1.0, half / sum(_WANTED.values()))
    lanes = {name: max(_LEAST[name], int(share * wanted)) for name, wanted in _WANTED.items()}
    while sum(lanes.values()) > half:
        lanes[max(lanes, key=lambda name: lanes[name] - _LEAST[name])] -= 1
    return lanes


def told(limit: int, lanes: Mapping[str, str]) -> str:
    """What a person should know of it."""
    numbers = {name: int(lanes[name]) for name in _WANTED}
    left = limit - sum(numbers.values())
    parts = ", ".join(f"{name}={number}" for name, number in numbers.items())
    text = f"The account runs {limit} functions at once: {parts}; {left} are left for the API."
    if numbers == _WANTED:
        return text
    more = (
        "aws service-quotas request-service-quota-increase --service-code lambda"
        " --quota-code L-B99A9384 --desired-value 1000"
    )
    return f"{text}\nMore of them: {more}\nthen deploy again."
