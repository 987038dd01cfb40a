"""Checks the totals of a stage against its lists, and repairs them (alarm counts-wrong).

    python infra/counts.py --stage prod
    python infra/counts.py --stage prod --repair
    python infra/counts.py --stage prod --repair --all-days    # the time zone was changed

It reads the list of all records of each kind, once more that of all orders, and the totals of all
customers: a read unit for about 30 records. `--stage local` is what `make run` started.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from chalicelib import listing
from chalicelib.nightly import check
from chalicelib.orders import store as orders
from infra import keys, refused, steps


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stage", required=True, help="such as prod, or local for `make run`")
    parser.add_argument("--endpoint-url", help="of an emulated AWS")
    parser.add_argument("--repair", action="store_true", help="correct wrong totals")
    parser.add_argument(
        "--all-days", action="store_true", help="check the sales of all days, not of the last 30"
    )
    parser.add_argument(
        "--timezone", type=steps.check_timezone, help="IANA name; default: that of the stage"
    )
    options = parser.parse_args(arguments)
    keys.connect_stage(options.stage, options.endpoint_url)
    os.environ["TIMEZONE"] = options.timezone or steps.shop_settings(options.stage)["timezone"]
    for kind, number in orders.discard_entries() if options.repair else ():
        if number:
            print(f"{kind}: {number:,} entries that led nowhere are deleted")
    for kind, found in check.list_recounts(options.all_days):
        print(f"{kind}: {found.records:,} records, {len(found.wrong):,} wrong totals")
        for one in found.wrong:
            print(f"  {one.name}: {one.stored:,}, should be {one.counted:,}")
        if options.repair:
            listing.repair(found.wrong)


if __name__ == "__main__":
    refused.run(main)
