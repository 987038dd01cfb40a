from tests.orders.conftest import dynamodb, shop

__all__ = ["dynamodb", "shop"]
