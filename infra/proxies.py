"""Whose X-Forwarded-For a deployment trusts: `--trusted-proxies`."""

from collections.abc import Iterable, Iterator
from ipaddress import ip_network
from typing import Any, Final

CLOUDFRONT: Final = "cloudfront"
# AWS keeps these lists: the addresses from which CloudFront calls an origin.
_LISTS: Final = (
    "com.amazonaws.global.cloudfront.origin-facing",
    "com.amazonaws.global.ipv6.cloudfront.origin-facing",
)


def resolve_blocks(asked: str, ec2: Any) -> str:
    """Return CIDR blocks, separated by blanks. Raise ValueError.

    `asked`: blocks, or `cloudfront` for those that it has today. `ec2`: a client of EC2, for the
    latter.
    """
    words = asked.replace(",", " ").split()
    found = [block for word in words for block in _networks_of(word, ec2)]
    return " ".join(dict.fromkeys(str(ip_network(block)) for block in found))


def _networks_of(word: str, ec2: Any) -> Iterable[str]:
    return _list_cloudfront(ec2) if word.lower() == CLOUDFRONT else [word]


def _list_cloudfront(ec2: Any) -> Iterator[str]:
    names = [{"Name": "prefix-list-name", "Values": list(_LISTS)}]
    for known in ec2.describe_managed_prefix_lists(Filters=names)["PrefixLists"]:
        pages = ec2.get_paginator("get_managed_prefix_list_entries")
        for page in pages.paginate(PrefixListId=known["PrefixListId"]):
            for entry in page["Entries"]:
                yield entry["Cidr"]
