"""Whose X-Forwarded-For is trusted: only that of the operator's trusted proxies."""

from collections.abc import Sequence
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

_MOST_HOPS: Final = 20


def client(peer: str, forwarded: str, trusted: Sequence[str]) -> str:
    """Return the address of the client.

    `forwarded`: the X-Forwarded-For header, to which every proxy appends its own peer, and whose
    left part may be forged. So it is read from the right, up to the first untrusted address.
    """
    address = peer
    for hop in map(str.strip, reversed(forwarded.split(",")[-_MOST_HOPS:])):
        if not trusted or not _is_in(trusted, address) or not _parse_ip(hop):
            break
        address = hop
    return address


def _is_in(trusted: Sequence[str], address: str) -> bool:
    parsed = _parse_ip(address)
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    return parsed is not None and any(parsed in network for network in _networks(tuple(trusted)))


def _parse_ip(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


@cache
def _networks(trusted: tuple[str, ...]) -> list[IPv4Network | IPv6Network]:
    return [ip_network(each) for each in trusted]
