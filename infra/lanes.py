"""The concurrency of each queue, by the account's limit.

The API's share is not reserved, because a small account cannot: AWS keeps 100 for functions without
a reservation, and a new account runs 10. So the queues are limited to half of the account's limit.
"""

import boto3

# Columns of `Concurrency` in triggers.yaml, and how many functions their queues run together.
COLUMNS = {"usual": 99, "some": 46, "few": 20, "least": 9}


def account_limit() -> int:
    """Return how many functions the account runs at once, in this region."""
    settings = boto3.client("lambda").get_account_settings()
    return int(settings["AccountLimit"]["ConcurrentExecutions"])


def choose_column(limit: int) -> str:
    """Return the widest column that takes at most half of the limit, or else the smallest."""
    return next((name for name, total in COLUMNS.items() if total <= limit / 2), "least")


def summary(limit: int, column: str) -> str:
    """Return a summary for the operator."""
    if column not in COLUMNS:
        return (
            f"The account runs {limit:,} functions at once; the queues have the limits of the"
            f" column {column} in infra/triggers.yaml."
        )
    total = COLUMNS[column]
    text = (
        f"The account runs {limit:,} functions at once: up to {total} for imports, jobs,"
        f" deliveries, retries and new events together ({column});"
        f" {limit - total:,} are left for the API."
    )
    if column == "usual":
        return text
    more = (
        "aws service-quotas request-service-quota-increase --service-code lambda"
        " --quota-code L-B99A9384 --desired-value 1000"
    )
    return f"{text}\nFor more of them: {more}\nand then deploy again."
