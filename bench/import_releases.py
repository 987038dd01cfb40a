"""Imports of Shopify's columns, this release against the last one, in one run: CPU per row.

Each release has its own process and emulated AWS. They import alternately, so that other load on
the machine affects both equally. The last release is taken from git.
"""

import contextlib
import csv
import io
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Final

ROUNDS: Final = 9
PRODUCTS: Final = 300  # of a round, in two rows each
_HERE: Final = Path(__file__).resolve()
_COLUMNS: Final = (
    *("Handle", "Title", "Body (HTML)", "Vendor", "Product Category", "Type", "Tags", "Published"),
    *("Option1 Name", "Option1 Value", "Option2 Name", "Option2 Value", "Variant SKU"),
    *("Variant Grams", "Variant Inventory Tracker", "Variant Inventory Qty"),
    *("Variant Inventory Policy", "Variant Fulfillment Service", "Variant Price"),
    *("Variant Compare At Price", "Variant Requires Shipping", "Variant Taxable"),
    *("Variant Barcode", "Image Src", "Image Position", "Image Alt Text", "Gift Card"),
    *("SEO Title", "SEO Description", "Variant Image", "Variant Weight Unit", "Cost per item"),
    "Status",
)
_STEPS: Final = ("planning", "a first import", "the same again", "every price changed")


def main() -> None:
    from bench.releases import LAST, last_release

    rows = 2 * PRODUCTS
    print(
        f"CPU a row, the least of {ROUNDS} rounds of {rows} rows; load {os.getloadavg()[0]:.1f}\n"
    )
    here = _HERE.parent.parent
    with last_release() as folder:
        # Both on the emulator of this one.
        (folder / ".venv-emulator").symlink_to((here / ".venv-emulator").resolve())
        found = _measured(folder, here)
    print(f"{'':<22} {LAST + ' ms':>12} {'this ms':>9} {'ratio':>6}")
    for name in _STEPS:
        then, now = ([each[at][name] for each in found] for at in (0, 1))
        ratio = min(now) / min(then)
        print(f"{name:<22} {min(then):>12.3f} {min(now):>9.3f} {ratio:>6.2f}")


def _measured(*folders: Path) -> list[list[dict[str, float]]]:
    """The figures of each round, by folder."""
    from bench.releases import ask, serving

    with contextlib.ExitStack() as running:
        sides = [
            running.enter_context(serving(_HERE, folder, {"PYTHONPATH": str(folder)}))
            for folder in folders
        ]
        return [[ask(side, number) for side in sides] for number in range(ROUNDS + 1)][1:]


def _serve() -> None:
    """Imports with the code in the working directory, which may be of either release."""
    sys.path.remove(str(_HERE.parent))
    from bench import imports

    answers, sys.stdout = sys.stdout, sys.stderr

    def timed(work: Any, *given: Any) -> float:
        began = time.process_time()
        work(*given)
        return (time.process_time() - began) / (2 * PRODUCTS) * 1e3

    def imported(text: bytes) -> tuple[float, float]:
        job_id = imports._uploaded(text)
        spent = timed(imports.plan, job_id), timed(imports.work, imports.WORKERS)
        imports._completed(job_id)
        return spent

    with imports._desk():
        print("ready", file=answers, flush=True)
        for line in sys.stdin:
            file = _file(int(line))
            dearer = file.replace(b".90,", b".95,")
            planning, first = imported(file)
            again, prices = imported(file)[1], imported(dearer)[1]
            figures = dict(zip(_STEPS, (planning, first, again, prices), strict=True))
            print(json.dumps(figures), file=answers, flush=True)


def _file(number: int) -> bytes:
    """A product catalogue as Shopify exports it: two variants and a picture each."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, restval="")
    writer.writeheader()
    for product in range(number * PRODUCTS, (number + 1) * PRODUCTS):
        for at, size in enumerate(("Small", "Large")):
            of_product = {
                "Title": f"Linen shirt {product}",
                "Body (HTML)": "<p>A light shirt for warm days, made of linen.</p>" * 3,
                "Vendor": f"Vendor {product % 40}",
                "Type": f"Type {product % 30}",
                "Tags": "summer, linen, shirts",
                "Published": "TRUE",
                "Option1 Name": "Size",
                "Image Src": f"https://cdn.example/s/files/1/{product}.jpg?v=1",
                "Image Position": "1",
                "Image Alt Text": "From the front",
                "Gift Card": "FALSE",
                "Status": "active",
            }
            of_variant = {
                "Handle": f"linen-shirt-{product}",
                "Option1 Value": size,
                "Variant SKU": f"LIN-{product}-{at}",
                "Variant Grams": "200",
                "Variant Inventory Tracker": "shopify",
                "Variant Inventory Qty": str(product % 50),
                "Variant Inventory Policy": "deny",
                "Variant Fulfillment Service": "manual",
                "Variant Price": f"{20 + product % 60}.90",
                "Variant Requires Shipping": "TRUE",
                "Variant Taxable": "TRUE",
                "Variant Weight Unit": "kg",
            }
            writer.writerow({**(of_product if at == 0 else {}), **of_variant})
    return text.getvalue().encode()


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        _serve()
    else:
        main()
