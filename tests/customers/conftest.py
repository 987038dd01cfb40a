from tests.orders.conftest import shop

__all__ = ["shop"]
