from tests.shop import Shop


def test_a_key_opens_the_admin_interface_as_what_it_is(shop: Shop) -> None:
    made = shop.post("/api/admin/keys", {"name": "Till", "role": "STAFF"})
    assert made.status == 201
    me = shop.get("/api/admin/me", key=made.json["key"])
    assert me.status == 200
    assert me.json["id"] == made.json["id"]
    assert me.json["role"] == "STAFF"
    assert "key" not in me.json
