"""Random files, and the shop expected after them: the simplest possible import."""

import random
from collections import Counter
from dataclasses import dataclass, field

SLUGS = ["ape", "bee", "cat", "dog", "elk", "fox"]
TITLES = ["S", "M", "L"]
HEADER = "slug,name,price,variantTitle,variantPrice,stock\n"


@dataclass
class Row:
    """One row of our own format; empty cells leave a value as it is."""

    slug: str
    name: str = ""
    price: str = ""
    title: str = ""
    variant_price: str = ""
    stock: str = ""

    @property
    def is_bad(self) -> bool:
        return self.price == "free"

    def text(self) -> str:
        cells = (self.slug, self.name, self.price, self.title, self.variant_price, self.stock)
        return ",".join(cells) + "\n"


def random_file(chance: random.Random) -> list[Row]:
    rows = []
    for _ in range(chance.randint(8, 30)):
        row = Row(chance.choice(SLUGS))
        if chance.random() < 0.6:
            row.name = f"{row.slug} {chance.randint(1, 3)}"
            row.price = "free" if chance.random() < 0.15 else f"{chance.randint(1, 9)}.00"
        if not row.name or chance.random() < 0.5:
            row.title = chance.choice(TITLES)
            row.variant_price = f"{chance.randint(1, 9)}.50"
            row.stock = chance.choice(["", "3", "7"])
        rows.append(row)
    return rows


@dataclass
class Thing:
    """A product, with the fields that rows can set."""

    name: str
    price: str
    variants: dict[str, tuple[str, int | None]] = field(default_factory=dict)


@dataclass
class Expected:
    things: dict[str, Thing] = field(default_factory=dict)
    outcomes: dict[str, str] = field(default_factory=dict)
    with_errors: int = 0

    @property
    def counts(self) -> Counter[str]:
        return Counter(self.outcomes.values())


def expected(rows: list[Row], shop: dict[str, Thing]) -> Expected:
    """The shop after the file. Adjacent rows with one slug are one group; a group with a bad row is
    not read. All others of a product are read as one, in the order of the file."""
    result = Expected({slug: _copy(thing) for slug, thing in shop.items()})
    of: dict[str, list[list[Row]]] = {}
    for group in _groups(rows):
        of.setdefault(group[0].slug, []).append(group)
    for slug, groups in of.items():
        good = [row for group in groups if not any(r.is_bad for r in group) for row in group]
        thing = result.things.get(slug)
        is_made = bool(good) and (thing is not None or any(row.name for row in good))
        if any(row.is_bad for group in groups for row in group) or not is_made:
            result.with_errors += 1
        if not is_made:
            result.outcomes[slug] = "failed"
        elif thing is None:
            result.things[slug] = Thing("", "")
            _apply(result.things[slug], good)
            result.outcomes[slug] = "created"
        else:
            before = _copy(thing)
            _apply(thing, good)
            result.outcomes[slug] = "unchanged" if thing == before else "updated"
    return result


def _groups(rows: list[Row]) -> list[list[Row]]:
    groups: list[list[Row]] = []
    for row in rows:
        if groups and groups[-1][0].slug == row.slug:
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def _apply(thing: Thing, rows: list[Row]) -> None:
    """The product's own values: those of its own rows, or of variants' rows that come first."""
    named: dict[str, str] = {}
    price: dict[str, str] = {}
    for row in rows:
        for values, value in ((named, row.name), (price, row.price)):
            if value and (not row.title or not values):
                values["it"] = value
    thing.name = named.get("it", thing.name)
    thing.price = price.get("it", thing.price)
    for row in rows:
        if row.title:
            had = thing.variants.get(row.title, ("", None))
            stock = int(row.stock) if row.stock else had[1]
            thing.variants[row.title] = (row.variant_price or had[0], stock)


def _copy(thing: Thing) -> Thing:
    return Thing(thing.name, thing.price, dict(thing.variants))
