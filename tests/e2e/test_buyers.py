"""Many buyers of little stock, over HTTP, on the deployed shop."""

from tests.support import buyers
from tests.support.running import Stack


def test_concurrent_buyers_leave_consistent_stock_and_sales(stack: Stack) -> None:
    day = buyers.shop(stack, seconds=8, clients=6, stock=2)
    assert day.wrong == []
    assert day.statuses[201] > 0 and day.statuses[422] > 0 and day.cancelled
