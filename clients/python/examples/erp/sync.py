"""A copy of the shop's orders in SQLite, kept up to date by the change feed.

An order that was deleted has no `whole`.

    BACKROOM_URL=… BACKROOM_KEY=… python sync.py orders.db

Run it as often as you like: it continues where it was.
"""

import json
import sqlite3
import sys

from backroom import Backroom, Gone
from backroom.models import FeedEvent


def main(path: str) -> None:
    with sqlite3.connect(path) as database, Backroom.from_environment() as shop:
        database.execute("CREATE TABLE IF NOT EXISTS orders (id PRIMARY KEY, updated, whole)")
        database.execute("CREATE TABLE IF NOT EXISTS place (one PRIMARY KEY, cursor)")
        row = database.execute("SELECT cursor FROM place").fetchone()
        try:
            synchronise(database, shop, row[0] if row else None)
        except Gone:  # longer ago than the feed goes back: start over
            synchronise(database, shop, None)


def synchronise(database: sqlite3.Connection, shop: Backroom, cursor: str | None) -> None:
    if cursor is None:
        database.execute("DELETE FROM orders")
        # What is older than the feed, which is then read from its beginning.
        for order in shop.iter_orders():
            keep(database, order["id"], order["updatedAt"], json.dumps(order))
    for page in shop.feed(cursor):
        for event in page["data"]:
            apply(database, event)
        database.execute("INSERT OR REPLACE INTO place VALUES (1, ?)", (page["next"],))
        database.commit()  # the page and the place after it, together


def apply(database: sqlite3.Connection, event: FeedEvent) -> None:
    order = event["data"]
    if not event["event"].startswith("order.") or "orderId" in order:
        return  # what only names its order (an edit, its end) is an `order.updated` too, with all
    is_deleted = event["event"] == "order.deleted"
    keep(database, order["id"], order["updatedAt"], None if is_deleted else json.dumps(order))


def keep(database: sqlite3.Connection, id: str, updated: str, whole: str | None) -> None:
    """Write the state of an order, unless a newer one or its deletion was written before.

    Events of one order can come the other way round. A deletion is written without a `whole`.
    """
    database.execute(
        "INSERT INTO orders VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
        " updated = excluded.updated, whole = excluded.whole"
        " WHERE excluded.updated >= updated AND whole IS NOT NULL",
        (id, updated, whole),
    )


if __name__ == "__main__":
    main(sys.argv[1])
