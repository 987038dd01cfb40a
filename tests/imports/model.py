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
    outcomes: dict[str, set[str]] = field(default_factory=dict)
    updates: int = 0  # groups that changed a product

    @property
    def counts(self) -> Counter[str]:
        """Each product once, by the worst or else the strongest outcome of its groups."""
        ranks = ("failed", "created", "updated", "unchanged")
        foremost = (min(of, key=ranks.index) for of in self.outcomes.values())
        return Counter(foremost)

    def note(self, slug: str, outcome: str) -> None:
        self.outcomes.setdefault(slug, set()).add(outcome)
        self.updates += outcome == "updated"


def expected(rows: list[Row], shop: dict[str, Thing]) -> Expected:
    """The shop after the file, read row by row. Adjacent rows with one slug are one group."""
    result = Expected({slug: _copy(thing) for slug, thing in shop.items()})
    waiting: dict[str, list[list[Row]]] = {}
    for group in _groups(rows):
        slug = group[0].slug
        if any(row.is_bad for row in group):
            result.note(slug, "failed")
        elif slug in result.things:
            before = _copy(result.things[slug])
            _apply(result.things[slug], group)
            same = before == result.things[slug]
            result.note(slug, "unchanged" if same else "updated")
        elif not any(row.name for row in group):
            waiting.setdefault(slug, []).append(group)
        else:
            groups = [*waiting.pop(slug, []), group]
            thing = Thing("", "")
            _apply(thing, [row for each in groups for row in each])
            result.things[slug] = thing
            result.note(slug, "created")
    for slug in waiting:
        result.note(slug, "failed")
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
