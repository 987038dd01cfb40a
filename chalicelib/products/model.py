"""Products as they are stored, listed and shown.

Stored and shown names are the same, in camelCase, so that a record reads like the API.
"""

import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from chalicelib import listing, settings
from chalicelib.files.model import find_picture_id, picture_sizes
from chalicelib.listing import external_ids
from chalicelib.listing.external_ids import Holder
from chalicelib.products.schemas import (
    PUBLISHED,
    Image,
    ProductStatus,
    PublicImage,
    PublicProduct,
    PublicVariant,
    ShownProduct,
    Variant,
)
from chalicelib.storage.attributes import Fields, Item
from chalicelib.values import metadata, money

MOST_LOW_OF_ONE: Final = 5  # variants that the summary lists, so that no product hides the others
LARGEST_BULK: Final = 6_000_000  # bytes: Lambda takes 6 MB of event, the body a JSON text
# Variants, tags and words of one request. Each is 0.8 to 2.5 write units, in addition to some 20 a
# product and 4 a KB: 80,000 at most, which a new table takes in 20 of the function's 28 seconds.
MOST_PARTS: Final = 30_000
LARGEST_PRODUCT: Final = 200_000  # bytes of JSON: DynamoDB takes 400 KB, index and events included
LOW_STOCK: Final = 5
DEFAULT_VARIANT: Final = "Default"
# What products of release 1.0.0 are: not made to order.
NOT_MADE: Final[Mapping[str, object]] = {
    "madeToOrder": False,
    "leadDays": None,
    "specification": [],
}
# What a variant has besides its title, SKU and price, and its value where it has none.
VARIANT_EXTRAS: Final[Mapping[str, object]] = {
    **dict.fromkeys(("barcode", "cost", "externalId")),
    "metadata": {},
}
# Ids of other systems that one write of a product may set or clear, for itself and its variants.
MOST_EXTERNAL_IDS: Final = 60


# An update that changes everything writes 35 items without the words and tags, old and new: the
# product, its stock, two slug locks, 19 list entries, ten counts, one low-stock and one outbox
# item. 60 more are room for words and tags, and five for what others add to the transaction.
KIND: Final = listing.Kind(
    "product",
    counted=("status", "published", "storefront"),
    under=("type", "vendor"),
    split="storefront",
    listed=("status", "type", "storefront", "vendor"),
    combined={
        "live": {"status": ProductStatus.ACTIVE, "published": "yes"},
        "hidden": {"published": "no"},
    },
    several="tag",
    orders=("name", "updated", "live-name", "live-price"),
    shelf="live",
    menus=("type", "vendor", "tag"),
    measured=frozenset({"live", "type", "vendor", "tag", "*live-name", "*live-price"}),
    since={"*live-name": 2, "*live-price": 2, "@type": 2, "@vendor": 2, "@tag": 2},
    inside=30,
    room=60,
    identified=("product", "variant"),
    exact={"sku": lambda product: product.skus},
)


@dataclass(frozen=True)
class Product(listing.Record):
    """A product with its stock, as stored.

    `fields`: the record (names as shown; amounts as rendered strings; a variant's `price` None
    where it follows the product's). `quantities`: variant id → stock, of the tracked variants.
    `moves`: variant id → sales and moves of it so far (`stock.py`).
    """

    quantities: Mapping[str, int]
    version: int
    moves: Mapping[str, int] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        return str(self.fields["slug"])

    @property
    def etag(self) -> str:
        """Return a tag that changes with all shown fields, including stock; without quotes.

        It is unique per product, because a slug can move from one to another.
        """
        stock = ",".join(f"{id}={n}" for id, n in sorted(self.quantities.items()))
        return f"{self.version}-{zlib.crc32(f'{self.id} {stock}'.encode()):08x}"

    @property
    def edited_at(self) -> str:
        """Return when it was last edited: an undo that created it again is no edit."""
        updated = str(self.fields["updatedAt"])
        recreated: Mapping[str, str] = self.fields.get("recreated", {})
        return recreated.get(updated, updated)

    @property
    def variant_ids(self) -> set[str]:
        return {variant["id"] for variant in self.fields["variants"]}

    @property
    def picture_fields(self) -> dict[str, str]:
        """The own pictures that it shows: by id, which field names it."""
        found = enumerate(find_picture_id(image["url"]) for image in self.fields["images"])
        return {id: f"images.{place}" for place, id in found if id}

    @property
    def skus(self) -> set[str]:
        """Its own and its variants'."""
        return skus_of(self.fields)

    @property
    def external_ids(self) -> external_ids.Held:
        """Its own and its variants'."""
        own = external_ids.held_ids("product", self.fields)
        return own | {
            ("variant", str(one["externalId"])): Holder(one["id"], f"variants.{at}.externalId")
            for at, one in enumerate(self.fields["variants"])
            if one["externalId"]
        }

    @property
    def is_live(self) -> bool:
        """Whether the storefront shows it."""
        return self.fields["status"] == ProductStatus.ACTIVE and bool(self.fields["published"])

    @property
    def price(self) -> str:
        """Its own price, or the lowest of its variants'."""
        return lowest_price(self.fields)

    @property
    def is_available(self) -> bool:
        """Whether one of its variants can be ordered."""
        return bool(self.fields["madeToOrder"]) or any(
            self.quantities.get(variant["id"]) is None or self.quantities[variant["id"]] > 0
            for variant in self.fields["variants"]
        )

    @property
    def import_memory(self) -> Fields:
        """The memory of the last import that wrote it, for repeated steps."""
        left: Mapping[str, object] = self.fields.get("import", {})
        return left

    def remembering(self, imported: Mapping[str, object]) -> "Product":
        """With this memory: stored in the record, never shown, and not a change of its own."""
        fields = {**self.fields, "import": imported}
        return Product(fields, self.quantities, self.version, self.moves)

    @property
    def low_stock_threshold(self) -> int:
        return int(self.fields["lowStockThreshold"])

    def variant(self, id: str) -> Variant | None:
        """Return a variant as it is shown, or None."""
        return next((self._show_variant(v) for v in self.fields["variants"] if v["id"] == id), None)

    def variants(self) -> list[Variant]:
        return [self._show_variant(variant) for variant in self.fields["variants"]]

    def _show_variant(self, variant: Fields) -> Variant:
        return {
            "id": variant["id"],
            "title": variant["title"],
            "sku": self.fields["sku"] if variant.get("default") else variant["sku"],
            "price": variant["price"] or self.price,
            "stock": self.quantities.get(variant["id"]),
            "barcode": variant["barcode"],
            "cost": variant["cost"],
            "externalId": variant["externalId"],
            "metadata": variant["metadata"],
        }


def lowest_price(fields: Fields) -> str:
    """Return the price of a product, or the lowest of its variants'."""
    return str(fields["price"] or min((v["price"] for v in fields["variants"]), key=Decimal))


def title_of(name: str, variant_title: str) -> str:
    """Return the name of a variant where its product is not shown."""
    return name if variant_title == DEFAULT_VARIANT else f"{name} / {variant_title}"


def skus_of(fields: Fields) -> set[str]:
    skus = {fields["sku"], *(variant["sku"] for variant in fields["variants"])}
    return {sku for sku in skus if sku}


def index_of(fields: Fields) -> listing.Index:
    """Return how a product is listed and found.

    It is found by name, SKU, vendor and tags, and by its variants' SKUs, barcodes and titles.
    """
    variants = fields["variants"]
    measures = {"name": fields["name"], "price": money.sort_key(lowest_price(fields))}
    is_live = fields["status"] == ProductStatus.ACTIVE and fields["published"]
    on_shelf = {f"live-{name}": value for name, value in measures.items()} if is_live else {}
    texts: Iterable[str | None] = (
        fields["name"],
        fields["vendor"],
        fields["sku"],
        *fields["tags"],
        *(variant[name] for variant in variants for name in ("sku", "barcode")),
        *(variant["title"] for variant in variants if variant["title"] != DEFAULT_VARIANT),
    )
    return listing.Index.build(
        sort=fields["createdAt"],
        facets={
            "status": fields["status"],
            "published": PUBLISHED[bool(fields["published"])],
            "storefront": fields["storefront"] or "",
            "type": fields["type"] or "",
            "vendor": fields["vendor"] or "",
        },
        several=fields["tags"],
        orders={"name": fields["name"], "updated": fields["updatedAt"], **on_shelf},
        measures={"created": fields["createdAt"], **measures},
        texts=[text for text in texts if text],
        exact=sorted(skus_of(fields) | {v["barcode"] for v in variants if v["barcode"]}),
    )


def attributes_of(fields: Iterable[str]) -> set[str]:
    """Return the attributes of a record and its stock that make these shown fields.

    No fields: none, which stands for all.
    """
    made_of = {
        "currency": set[str](),
        "price": {"price", "variants"},
        "available": {"variants", "quantities", "madeToOrder"},
        "variants": {"variants", "sku", "price", "quantities", "madeToOrder"},
    }
    asked = [made_of.get(field, {field}) for field in fields]
    return {"id", "version"}.union(*asked) if asked else set()


def reads_stock(fields: Iterable[str]) -> bool:
    asked = list(fields)
    return not asked or not {"variants", "available"}.isdisjoint(asked)


def to_item(product: Product) -> Item:
    """Return the record's attributes, without its keys. JSON of unknown shape is kept as text."""
    fields = metadata.to_stored(product.fields)
    fields["variants"] = list(map(metadata.to_stored, fields["variants"]))
    fields["images"] = list(map(_store_image, fields["images"]))
    return {**fields, "version": product.version}


def from_item(item: Item, stock: Item | None) -> Product:
    fields = {**NOT_MADE, **metadata.from_stored(item)}
    if "variants" in fields:
        fields["variants"] = [
            {**one, "metadata": metadata.parse(one["metadata"])} for one in fields["variants"]
        ]
    if "images" in fields:
        fields["images"] = list(map(_load_image, fields["images"]))
    stock = stock or {}
    return Product(fields, stock.get("quantities", {}), item["version"], stock.get("moves", {}))


def _store_image(image: Fields) -> Fields:
    """Return an image as stored: an own picture by its id, as its address may become another."""
    id = find_picture_id(image["url"])
    return {"pictureId": id, "alt": image["alt"]} if id else image


def _load_image(stored: Fields) -> Fields:
    if "pictureId" not in stored:
        return stored
    return {"url": picture_sizes(stored["pictureId"])["large"], "alt": stored["alt"]}


_SHOWN: Final = ShownProduct.__annotations__


def show_product(
    product: Product, fields: Collection[str] = (), *, costs: bool = True
) -> dict[str, Any]:
    """Return the shape of ShownProduct, or these fields of it. Without `costs` each is null."""
    shown = _show_fields(_SHOWN, fields, product, product.variants, _show_image)
    return shown if costs else without_costs(shown)


def without_costs(shown: Fields) -> dict[str, object]:
    """As those see it who do not see what it costs, among them webhooks."""
    variants = [{**variant, "cost": None} for variant in shown.get("variants", ())]
    return {**shown, **({"variants": variants} if "variants" in shown else {})}


def _show_fields(
    names: Collection[str],
    asked: Collection[str],
    product: Product,
    variants: Callable[[], Sequence[object]],
    show_image: Callable[[Fields], object],
) -> dict[str, object]:
    """Return the fields with these names, or those of them that are asked for."""
    wanted = [name for name in names if name in asked] if asked else names
    shown = {name: product.fields.get(name) for name in wanted}
    if "price" in shown:
        shown["price"] = product.price
    if "currency" in shown:
        shown["currency"] = settings.currency()
    if "variants" in shown:
        shown["variants"] = variants()
    if "images" in shown:
        shown["images"] = list(map(show_image, product.fields["images"]))
    return shown


def _show_image(image: Fields) -> Image:
    id = find_picture_id(image["url"])
    sizes = picture_sizes(id) if id else None
    return {"url": image["url"], "alt": image["alt"], "pictureId": id, "sizes": sizes}


def _show_public_image(image: Fields) -> PublicImage:
    shown = _show_image(image)
    return {"url": shown["url"], "alt": shown["alt"], "sizes": shown["sizes"]}


_PUBLIC: Final = PublicProduct.__annotations__


def show_public(product: Product, fields: Collection[str] = ()) -> dict[str, object]:
    """Return the shape of PublicProduct, or these fields of it."""
    return _show_fields(
        *(_PUBLIC, fields, product),
        lambda: [
            _show_public_variant(variant, bool(product.fields["madeToOrder"]))
            for variant in product.variants()
        ],
        _show_public_image,
    )


def _show_public_variant(variant: Variant, is_made: bool) -> PublicVariant:
    stock = variant["stock"]
    return {
        "id": variant["id"],
        "title": variant["title"],
        "sku": variant["sku"],
        "price": variant["price"],
        "available": is_made or stock is None or stock > 0,
    }
