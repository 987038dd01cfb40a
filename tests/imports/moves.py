"""Products whose handles, SKUs and options change from file to file, and which must keep their ids.

A shop keeps its slugs, so a row with neither the slug nor a SKU of a product is a new product.
Therefore no file changes both.
"""

import random
from dataclasses import dataclass, field
from typing import Any

_SPOILT = "4.00639E+12"


@dataclass
class Option:
    key: str  # of our own product, never in a file
    title: str
    sku: str
    stock: int


@dataclass
class Good:
    name: str
    slug: str
    options: list[Option]
    whole: Option = field(default_factory=lambda: Option("whole", "", "", 0))
    spoilt: bool = False

    def variants(self) -> dict[str, tuple[str, int]]:
        """Title → SKU and stock, as the shop has them."""
        if not self.options:
            return {"Default": (self.whole.sku, self.whole.stock)}
        return {o.title: (_SPOILT if self.spoilt else o.sku, o.stock) for o in self.options}

    def move(self, chance: random.Random) -> None:
        number = chance.randint(1000, 9999)
        if not self.options:
            if chance.random() < 0.5:
                first = Option(self.whole.key, "S", self.whole.sku, self.whole.stock)
                self.options = [first, Option("M", "M", f"{self.name}-M-{number}", 5)]
            else:
                self.slug = f"{self.name}-{number}"
            return
        if self.spoilt:
            self.spoilt = False
            return
        some = chance.choice(self.options)
        match chance.choice(["slug", "skus", "spoilt", "option", "more", "stock"]):
            case "slug":
                self.slug = f"{self.name}-{number}"
            case "skus":
                self.slug = self.name
                for option in self.options:
                    option.sku = f"{self.name}-{option.key}-{number}"
            case "spoilt":
                self.slug, self.spoilt = self.name, True
            case "option":
                some.title = f"{some.key}{number}"
            case "more":
                key = f"L{number}"
                self.options.append(Option(key, key, f"{self.name}-{key}", 2))
            case "stock":
                some.stock = number


def random_goods(chance: random.Random) -> list[Good]:
    goods = []
    for name in ("ape", "bee", "cat", "dog", "elk"):
        keys = chance.choice([[], ["S"], ["S", "M"], ["S", "M", "L"]])
        options = [Option(key, key, f"{name}-{key}", chance.randint(1, 99)) for key in keys]
        whole = Option("whole", "", f"{name}-0", chance.randint(1, 99))
        goods.append(Good(name, name, options, whole))
    return goods


def text(goods: list[Good], chance: random.Random) -> str:
    """The file: products, and the options of each, in random order."""
    lines = ["slug,name,price,sku,variantTitle,variantSku,stock"]
    for good in chance.sample(goods, len(goods)):
        if not good.options:
            lines.append(f"{good.slug},{good.name},5,{good.whole.sku},,,{good.whole.stock}")
            continue
        # The row for the whole product comes first, and counts once.
        several = good.options
        if several[0].key != "whole":
            several = chance.sample(several, len(several))
        for option in several:
            sku = _SPOILT if good.spoilt else option.sku
            lines.append(f"{good.slug},{good.name},5,,{option.title},{sku},{option.stock}")
    return "\n".join(lines) + "\n"


def variants(product: Any) -> dict[str, tuple[str, int]]:
    return {v["title"]: (v["sku"], v["stock"]) for v in product["variants"]}


def ids(good: Good, product: Any) -> dict[str, str]:
    """The id of the product and of each variant, by the test's keys."""
    by_title = {v["title"]: v["id"] for v in product["variants"]}
    found = {f"{good.name} {o.key}": by_title[o.title] for o in good.options}
    if not good.options:
        found = {f"{good.name} whole": by_title["Default"]}
    return {good.name: product["id"], **found}
