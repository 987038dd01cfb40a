"""The first requests of docs/api.md, with a client of openapi-generator for Python."""

import openapi_client
from openapi_client.models.create_order import CreateOrder
from openapi_client.models.create_product import CreateProduct
from openapi_client.models.line_item_input import LineItemInput


def place_order(address: str, key: str) -> openapi_client.OrderPreview:
    shop = openapi_client.ApiClient(openapi_client.Configuration(address, access_token=key))
    new = CreateProduct(name="Linen shirt")
    product = openapi_client.ProductsApi(shop).create_product(new)
    line = LineItemInput(variantId=product.variants[0].id, quantity=2)
    order = CreateOrder(lineItems=[line])
    return openapi_client.OrdersApi(shop).create_order(order, idempotency_key="receipt-1")
