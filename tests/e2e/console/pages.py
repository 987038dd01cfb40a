"""The address of each kind of page that shows records, with content."""

from tests.e2e.console.desk import Api

LONG_NAME = "Access" * 15
SKU = "PAGE-{}"  # of the 25 variants of the product


def filled(owner: Api) -> list[str]:
    variants = [{"title": str(size), "sku": SKU.format(size), "stock": 1} for size in range(25)]
    picture = {"url": "https://example.com/a.png"}
    product = owner.product(LONG_NAME, variants=variants, images=[picture])
    # More than one page of products, so that the links between pages are there, too.
    owner.post("products/bulk", [{"name": f"Access {n}", "price": 5} for n in range(60)])
    address = {"address1": "1 Road", "city": "Berlin", "countryCode": "DE"}
    person = {"email": "access@example.com", "addresses": [address]}
    person |= {"firstName": "Donaudampfschifffahrtsgesellschaft" * 2}
    known = owner.post("customers", person)
    order = owner.order(product, customer={"id": known["id"]}, shippingAddress=address)
    made = {"title": LONG_NAME, "price": 5, "quantity": 2, "make": True, "dueOn": "2026-01-02"}
    paid = {"paymentStatus": "PAID", "paymentMethod": "CASH"}
    owner.post("orders", {"lineItems": [made], "customer": {"id": known["id"]}, **paid})
    other = owner.post("customers", {"firstName": "Without", "lastName": "Orders"})
    edit = {"ids": [product["id"]], "change": {"addTags": ["read"]}}
    edited = owner.post("products/bulk-edit", edit)["jobId"]
    asked = owner.post("products/import/uploads", {"fileName": "unknown.csv"})["jobId"]
    webhook = owner.webhook("http://127.0.0.1:9/none", "product.deleted")
    delivery = owner.post(f"webhooks/{webhook['id']}/test", {})
    count = owner.post("stock/counts", {"name": "Access", "all": True})
    line = {"variantId": product["variants"][0]["id"], "counted": 1}
    owner.call("PUT", f"stock/counts/{count['id']}/lines", {"lines": [line]})
    developer = "/settings/developer"
    return [
        "/",
        "/reports",
        "/reports?by=product",
        "/products",
        "/products?search=PAGE-1",
        "/products/counts",
        f"/products/counts/{count['id']}",
        "/products/low-stock",
        f"/products/{product['id']}",
        "/orders",
        "/orders/due",
        "/orders/shipments",
        f"/orders/{order['id']}",
        "/production",
        "/customers",
        "/customers?search=nobody",
        f"/customers/{known['id']}",
        f"/customers/{other['id']}",
        "/jobs",
        f"/jobs/{edited}",
        f"/jobs/{asked}",
        f"{developer}/webhooks",
        f"{developer}/webhooks/{webhook['id']}",
        f"{developer}/deliveries",
        f"{developer}/deliveries?webhook={webhook['id']}",
        f"{developer}/deliveries/{delivery['id']}",
        "/settings/keys",
        "/settings/production",
        "/settings/shipping",
    ]
