"""Whose X-Forwarded-For is trusted: only that of the operator's trusted proxies."""

from collections.abc import Sequence
from functools import cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final

_MOST_HOPS: Final = 20


def client(peer: str, forwarded: str, trusted: Sequence[str]) -> str:
    """The address of the client. `forwarded`: the X-Forwarded-For header, to which every proxy
    appends its own peer, and whose left part may be forged.

    So it is read from the right, up to the first untrusted address.
    """
    address = peer
    if not trusted or not _is_in(trusted, peer):
        return address
    for hop in map(str.strip, reversed(forwarded.split(",")[-_MOST_HOPS:])):
        if not _is_address(hop):
            return address
        address = hop
        if not _is_in(trusted, hop):
            return address
    return address


def _is_in(trusted: Sequence[str], address: str) -> bool:
    if not _is_address(address):
        return False
    found = ip_address(address)
    found = getattr(found, "ipv4_mapped", None) or found
    return any(found in network for network in _networks(tuple(trusted)))


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


@cache
def _networks(trusted: tuple[str, ...]) -> list[IPv4Network | IPv6Network]:
    return [ip_network(each) for each in trusted]
