"""Products: requests, stored fields, and shown fields.

Stored and shown names are the same, in camelCase, so that a record reads like the API.
"""

import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from typing_extensions import TypeAliasType, TypedDict

from chalicelib import listing, settings
from chalicelib.listing import external_ids
from chalicelib.listing.external_ids import ExternalId, Holder
from chalicelib.schemas import SEEN, Choice, Several, Stripped, about, length, optional
from chalicelib.storage.attributes import Fields, Item
from chalicelib.values import metadata, money
from chalicelib.values.metadata import ABOUT as METADATA
from chalicelib.values.metadata import Metadata

MOST_LOW_OF_ONE: Final = 5  # variants that the summary lists, so that no product hides the others
MOST_VARIANTS: Final = 500
BARCODE_CHARACTERS: Final = 50
URL_CHARACTERS: Final = 2_000  # of an image
_PICTURE: Final = re.compile(r"https?://[^\s/]+", re.IGNORECASE)
BULK_PRODUCTS: Final = 500  # docs/api.md#products
LARGEST_BULK: Final = 6_000_000  # bytes of such a body: Lambda takes 6 MB of event
# Variants, tags and words of one request. Each is 0.8 to 2.5 write units, in addition to some 20 a
# product and 4 a KB: 80,000 at most, which a new table takes in 20 of the function's 28 seconds.
MOST_PARTS: Final = 30_000
LARGEST_DESCRIPTION: Final = 32_768  # bytes
LARGEST_PRODUCT: Final = 200_000  # bytes of JSON: DynamoDB takes 400 KB, index and events included
LOW_STOCK: Final = 5
MOST_STOCK: Final = 1_000_000_000
DEEPEST_PUBLIC: Final = 10_000  # results that the public may page through
DEFAULT_VARIANT: Final = "Default"
COST: Final = "What one piece costs the shop; null: unknown. Readers and events get null."
PUBLISHED: Final = {True: "yes", False: "no"}
# What a variant has besides its title, SKU and price, and its value where it has none.
VARIANT_EXTRAS: Final[Mapping[str, object]] = {
    **dict.fromkeys(("barcode", "cost", "externalId")),
    "metadata": {},
}
# Ids of other systems that one write of a product may set or clear, for itself and its variants.
MOST_EXTERNAL_IDS: Final = 60


class ProductStatus(Choice):
    """ACTIVE products can be sold; the storefront shows those of them that are published."""

    ACTIVE = "ACTIVE"
    DRAFT = "DRAFT"
    ARCHIVED = "ARCHIVED"


# An update that changes everything writes 27 items without the words and tags, old and new: the
# product, its stock, two slug locks, 15 list entries, six count cells, one low-stock and one outbox
# item. 68 more are room for words and tags, and five for what others add to the transaction.
KIND: Final = listing.Kind(
    "product",
    counted=("status", "published", "storefront"),
    under=("type", "vendor"),
    listed=("status", "type", "storefront", "vendor"),
    combined={
        "live": {"status": ProductStatus.ACTIVE, "published": "yes"},
        "hidden": {"published": "no"},
    },
    several="tag",
    orders=("name", "updated"),
    identified=("product", "variant"),
)


# --- What clients send ----------------------------------------------------------------------------


def _price(value: object) -> str:
    if money.is_rendered(value):
        return str(value)
    amount = money.parse(value)
    if amount < 0:
        raise ValueError("must not be negative")
    return money.render(amount)


def _slug(value: str) -> str:
    if not re.fullmatch(r"[^\W_]+(?:[-_.][^\W_]+)*", value) or value != value.lower():
        raise ValueError("must be lower-case words joined by hyphens, such as blue-shirt")
    return value


def is_picture(url: str) -> bool:
    """Whether it can be the address of an image."""
    return len(url) <= URL_CHARACTERS and _PICTURE.match(url) is not None


def _web_address(value: str) -> str:
    if not is_picture(value):
        raise ValueError("must be an address that begins with http:// or https://")
    return value


def _description(value: str) -> str:
    if len(value.encode()) > LARGEST_DESCRIPTION:
        raise ValueError(f"must be at most {LARGEST_DESCRIPTION:,} bytes")
    return value


def _shop_currency(value: str) -> str:
    if value.upper() != settings.currency():
        raise ValueError(f"must be {settings.currency()}, the shop's currency")
    return settings.currency()


def _sku(value: object) -> object:
    """A number becomes its text: spreadsheets and programs send such SKUs."""
    is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
    return str(value) if is_number else value


Price = Annotated[
    str,
    BeforeValidator(_price),
    WithJsonSchema(
        {
            "anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}],
            "description": "An amount, at most the currency's decimals",
            "examples": ["19.90"],
        }
    ),
]
ShopCurrency = Annotated[str, AfterValidator(_shop_currency)]
Name = Annotated[str, SEEN, length(500, 1)]
Slug = Annotated[str, length(200, 1), AfterValidator(_slug)]
Sku = Annotated[str, BeforeValidator(_sku), length(100)]
Barcode = Annotated[str, BeforeValidator(_sku), length(BARCODE_CHARACTERS)]
Stock = Annotated[int, Field(strict=True, ge=0, le=MOST_STOCK)]
Tags = Annotated[list[Annotated[str, length(100, 1)]], Field(max_length=100)]


class Image(Stripped):
    """An image of a product."""

    url: Annotated[str, length(URL_CHARACTERS), AfterValidator(_web_address), about("Web address.")]
    alt: Annotated[str, length(500)] | None = optional("Alternative text of the image.")


class Seo(Stripped):
    """Title and description for search engines."""

    title: Annotated[str, length(255)] | None = optional("Title.")
    description: Annotated[str, length(1_000)] | None = optional("Free text.")


class NewVariant(Stripped):
    """A variant of a new product. The id of a copied one is ignored."""

    read_only: ClassVar[frozenset[str]] = frozenset({"id"})

    title: Annotated[str, length(255, 1)] | None = optional("Title.")
    sku: Sku | None = optional("Stock keeping unit.")
    price: Price | None = optional("A decimal amount, in the shop's currency.")
    stock: Stock | None = optional("How many there are; null: not tracked.")
    barcode: Barcode | None = optional("What a scanner reads, such as an EAN.")
    cost: Price | None = optional("What one piece costs the shop; a decimal amount.")
    external_id: ExternalId | None = optional(external_ids.ABOUT)
    metadata: Metadata | None = optional(METADATA)


class VariantInput(NewVariant):
    """A variant of a product; an existing one by `id` or SKU."""

    read_only: ClassVar[frozenset[str]] = frozenset()

    id: Annotated[str, length(60)] | None = optional("Identifier.")


class _ProductFields(Stripped):
    read_only: ClassVar[frozenset[str]] = frozenset({"id", "createdAt", "updatedAt"})

    currency: ShopCurrency | None = Field(
        None, exclude=True, description="The shop's currency, ISO 4217."
    )  # checked, not stored
    description: Annotated[str, AfterValidator(_description)] | None = optional("Free text.")
    status: ProductStatus | None = optional("Its state.")
    price: Price | None = optional("A decimal amount, in the shop's currency.")
    compare_at_price: Price | None = optional("The price before a reduction; a decimal amount.")
    sku: Sku | None = optional("Stock keeping unit.")
    vendor: Annotated[str, length(255)] | None = optional("Who makes or supplies it.")
    tags: Tags | None = optional("Words to find it by.")
    type: Annotated[str, length(255)] | None = optional("Product type.")
    storefront: Annotated[str, length(100)] | None = optional(
        "The storefront that it is assigned to; null: all."
    )
    published: bool | None = optional("Whether the storefront may show it.")
    images: list[Image] | None = Field(
        None, max_length=100, description="Images, the main one first."
    )
    seo: Seo | None = optional("What search engines show.")
    low_stock_threshold: Stock | None = optional("A stock below this is low.")
    external_id: ExternalId | None = optional(external_ids.ABOUT)
    metadata: Metadata | None = optional(METADATA)


class ProductChange(_ProductFields):
    """The fields of a PUT: absent fields stay, null clears."""

    name: Annotated[Name, about("Name.")] = ""
    slug: Annotated[Slug, about("Its part of a web address, such as blue-shirt.")] = ""
    variants: list[VariantInput] | None = Field(
        None, max_length=MOST_VARIANTS, description="Variants; there is at least one."
    )


class NewProduct(_ProductFields):
    """The fields of a creation. `price` may be absent only if every variant has one."""

    name: Annotated[Name, about("Name.")]
    slug: Slug | None = optional("Its part of a web address, such as blue-shirt.")
    status: Annotated[ProductStatus | None, about("Its state.")] = ProductStatus.DRAFT
    published: Annotated[bool | None, about("Whether the storefront may show it.")] = True
    variants: list[NewVariant] | None = Field(
        None, max_length=MOST_VARIANTS, description="Variants; there is at least one."
    )


# The body of a bulk call, for the description only: its rows are validated one by one.
NewProducts = TypeAliasType(
    "NewProducts",
    Annotated[
        list[NewProduct],
        about("The products of a bulk creation; each succeeds or fails independently."),
    ],
)


class BulkStatus(Stripped):
    """The new status, and the products that get it."""

    ids: Annotated[
        list[Annotated[str, length(60, 1)]],
        length(BULK_PRODUCTS, 1),
        about("Identifiers, up to 500."),
    ]
    status: Annotated[ProductStatus, about("Its state.")]


class ProductSort(Choice):
    """The order of a list of products."""

    NEWEST = "-createdAt"
    OLDEST = "createdAt"
    NAME = "name"
    UPDATED = "-updatedAt"


class ListProducts(listing.Filters):
    facets = ("status", "type", "storefront", "vendor", "tag")

    search: Annotated[str, length(200), Field(description="Beginnings of words")] = ""
    status: Several[ProductStatus] = Field(default_factory=list, description="Its state.")
    type: Annotated[str, length(255), about("Product type.")] = ""
    storefront: Annotated[
        str, length(100), about("The storefront that it is assigned to; null: all.")
    ] = ""
    vendor: Annotated[str, length(255), Field(description="The exact vendor")] = ""
    tag: Annotated[str, length(100), Field(description="One of the product's tags")] = ""
    published: bool | None = optional("Whether the storefront may show it.")
    external_id: Annotated[
        ExternalId, Field(description=f"{external_ids.FILTER}, or with such a variant")
    ] = ""
    sort: Annotated[ProductSort, about("The order of the list.")] = ProductSort.NEWEST

    def where(self) -> dict[str, frozenset[str]]:
        if self.published is None:
            return super().where()
        return super().where() | {"published": frozenset({PUBLISHED[self.published]})}


class BrowseProducts(listing.Filters):
    """The storefront's query."""

    facets = ("type",)

    search: Annotated[str, length(200), Field(description="Beginnings of words")] = ""
    type: Annotated[str, length(255), about("Product type.")] = ""
    storefront: Annotated[
        str, length(100), about("The storefront that it is assigned to; null: all.")
    ] = ""

    def where(self) -> dict[str, frozenset[str]]:
        where = super().where()
        where |= {
            "status": frozenset({ProductStatus.ACTIVE.value}),
            "published": frozenset({"yes"}),
        }
        if self.storefront:
            where["storefront"] = frozenset({self.storefront, ""})
        return where

    def query(self) -> listing.Query:
        return replace(super().query(), deepest=DEEPEST_PUBLIC)


# --- What is stored -------------------------------------------------------------------------------


class Variant(TypedDict):
    """A variant of a product."""

    id: Annotated[str, about("Identifier.")]
    title: Annotated[str, about("Title.")]
    sku: Annotated[str | None, about("Stock keeping unit.")]
    price: Annotated[str, about("A decimal amount, in the shop's currency.")]
    stock: Annotated[int | None, about("How many there are; null: not tracked.")]
    barcode: Annotated[str | None, about("What a scanner reads, such as an EAN.")]
    cost: Annotated[str | None, about(COST)]
    externalId: Annotated[str | None, about(external_ids.ABOUT)]
    metadata: Annotated[dict[str, object], about(METADATA)]


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
        """Changes with all shown fields, including stock; without quotes. Unique per product,
        because a slug can move from one to another."""
        stock = ",".join(f"{id}={n}" for id, n in sorted(self.quantities.items()))
        return f"{self.version}-{zlib.crc32(f'{self.id} {stock}'.encode()):08x}"

    @property
    def variant_ids(self) -> set[str]:
        return {variant["id"] for variant in self.fields["variants"]}

    @property
    def skus(self) -> set[str]:
        """Its own and its variants'."""
        return skus_of(self.fields)

    @property
    def external_ids(self) -> external_ids.Held:
        """Its own and its variants'."""
        own = external_ids.held("product", self.fields)
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
        own = self.fields["price"]
        return str(own or min((v["price"] for v in self.fields["variants"]), key=Decimal))

    @property
    def imported(self) -> Fields:
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
        """A variant as it is shown, or None."""
        return next((self._shown(v) for v in self.fields["variants"] if v["id"] == id), None)

    def variants(self) -> list[Variant]:
        return [self._shown(variant) for variant in self.fields["variants"]]

    def _shown(self, variant: Fields) -> Variant:
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


def title_of(name: str, variant_title: str) -> str:
    """What a variant is called where its product is not shown."""
    return name if variant_title == DEFAULT_VARIANT else f"{name} / {variant_title}"


def skus_of(fields: Fields) -> set[str]:
    skus = {fields["sku"], *(variant["sku"] for variant in fields["variants"])}
    return {sku for sku in skus if sku}


def index_of(fields: Fields) -> listing.Index:
    """How a product is listed and found: by name, SKU, vendor and tags, and by its variants' SKUs,
    barcodes and titles."""
    variants = fields["variants"]
    texts: Iterable[str | None] = (
        fields["name"],
        fields["vendor"],
        fields["sku"],
        *fields["tags"],
        *(variant[name] for variant in variants for name in ("sku", "barcode")),
        *(variant["title"] for variant in variants if variant["title"] != DEFAULT_VARIANT),
    )
    return listing.Index.of(
        sort=fields["createdAt"],
        facets={
            "status": fields["status"],
            "published": PUBLISHED[bool(fields["published"])],
            "storefront": fields["storefront"] or "",
            "type": fields["type"] or "",
            "vendor": fields["vendor"] or "",
        },
        several=fields["tags"],
        orders={"name": fields["name"], "updated": fields["updatedAt"]},
        texts=[text for text in texts if text],
        exact=sorted(skus_of(fields) | {v["barcode"] for v in variants if v["barcode"]}),
    )


def attributes_of(fields: Iterable[str]) -> set[str]:
    """The attributes of a record and its stock that these fields, as shown, are made of; none for
    all of them."""
    made_of = {
        "currency": set[str](),
        "price": {"price", "variants"},
        "variants": {"variants", "sku", "price", "quantities"},
    }
    asked = [made_of.get(field, {field}) for field in fields]
    return {"id", "version"}.union(*asked) if asked else set()


def reads_stock(fields: Iterable[str]) -> bool:
    asked = list(fields)
    return not asked or "variants" in asked


def stored(product: Product) -> Item:
    """The record's attributes, without its keys. JSON of unknown shape is kept as text."""
    fields = metadata.stored(product.fields)
    fields["variants"] = list(map(metadata.stored, fields["variants"]))
    return {**fields, "version": product.version}


def read(item: Item, stock: Item | None) -> Product:
    fields = metadata.unstored(item)
    if "variants" in fields:
        fields["variants"] = [
            {**one, "metadata": metadata.read(one["metadata"])} for one in fields["variants"]
        ]
    stock = stock or {}
    return Product(fields, stock.get("quantities", {}), item["version"], stock.get("moves", {}))
