"""Which URLs and addresses are allowed. Receivers are not trusted: anyone may have chosen the URL.

Only the usual spelling of each part is accepted. Host names must have public addresses only; the
local stage and the tests allow further networks, usually loopback.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import quote

IpAddress = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

LONGEST_URL = 2_048
PUBLIC_PORTS = (443, 8443)

# IANA's registry of special-purpose IPv4 blocks, and 224.0.0.0/3: multicast and what is reserved.
_SPECIAL_V4 = [
    *map(IPv4Network, ("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8")),
    *map(IPv4Network, ("169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "198.18.0.0/15")),
    *map(IPv4Network, ("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.51.100.0/24")),
    *map(IPv4Network, ("192.31.196.0/24", "192.52.193.0/24", "192.175.48.0/24")),
    *map(IPv4Network, ("203.0.113.0/24", "224.0.0.0/3")),
]
# Of IPv6 only this block is given to the public, so mapped, NAT64, unique local, link-local and
# multicast addresses lie outside; inside it Teredo, ORCHID, 6to4 and documentation do not count.
_PUBLIC_V6 = IPv6Network("2000::/3")
_SPECIAL_V6 = [*map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"))]
_PRIVATE_NAMES = ("localhost", "local", "internal", "arpa", "onion")

_URL = re.compile(r"(https?)://([^/?#]*)((?:/[^?#]*)?(?:\?[^#]*)?)", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\[\]]+))(?::([0-9]{1,5}))?")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


class RefusedUrl(ValueError):
    """Nothing is posted to this URL; the text is the reason, for the user who registered it."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A parsed URL. Its addresses must be checked with `admit`."""

    tls: bool
    host: str
    """In lower case, without brackets and without a final dot."""
    port: int
    target: str
    """Path and query as they are sent."""
    literal: IpAddress | None
    """The address, where the host is one."""
    objection: str | None
    """Why the URL is refused, unless all addresses are in the networks that were opened."""

    @property
    def authority(self) -> str:
        """Return the Host header (RFC 9110, 7.2)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.tls else 80) else f"{host}:{self.port}"


def parse(url: str, allowed_networks: Sequence[str]) -> Destination:
    """Return the destination that `url` names, in the only spelling that is accepted.

    `allowed_networks` are CIDR blocks in which http, any port and address literals are welcome.
    Raises RefusedUrl; without allowed networks it needs no address to do so.
    """
    if len(url) > LONGEST_URL:
        raise RefusedUrl(f"The URL is longer than {LONGEST_URL:,} characters.")
    if re.search(r"[\x00-\x20\x7f-\xa0\\]", url):
        raise RefusedUrl("The URL contains a blank, a backslash or a control character.")
    if "#" in url:
        raise RefusedUrl("The URL must not have a fragment (#…): it is never sent.")
    parts = _URL.fullmatch(url)
    if not parts:
        raise RefusedUrl("The URL must start with https://.")
    scheme, authority, target = parts[1].lower(), parts[2], parts[3]
    if "@" in authority:
        raise RefusedUrl("The URL must not contain a user name or a password.")
    if not authority.isascii():
        raise RefusedUrl("Write the host name in ASCII (xn--…), so that no letter is ambiguous.")
    place = _AUTHORITY.fullmatch(authority)
    if not place:
        raise RefusedUrl("The URL has no valid host and port.")
    tls = scheme == "https"
    port = int(place[3]) if place[3] else (443 if tls else 80)
    if not 0 < port < 65_536:
        raise RefusedUrl(f"There is no port {port}.")
    host, literal = _host(place[1], place[2])
    objection = _objection(tls, port, host, literal)
    if objection and not allowed_networks:
        raise RefusedUrl(objection)
    if not target.startswith("/"):
        target = "/" + target
    # Everything that may be in a URL stays; what is not ASCII is sent as percent-encoded UTF-8.
    target = quote(target, safe="".join(map(chr, range(33, 127))), errors="replace")
    return Destination(tls, host, port, target, literal, objection)


def admit(
    destination: Destination, answers: Sequence[str], allowed_networks: Sequence[str]
) -> list[str]:
    """Return the addresses to connect to, in the resolver's order: all of `answers`, or none.

    One address that is not public refuses the whole name, because a mix is suspicious. Raises
    RefusedUrl.
    """
    addresses = list(dict.fromkeys(ip_address(answer) for answer in answers))
    opened = [ip_network(block) for block in allowed_networks]
    strangers = [address for address in addresses if not _lies_in(address, opened)]
    if strangers and destination.objection:
        raise RefusedUrl(destination.objection)
    for address in strangers:
        if not is_public(address):
            raise RefusedUrl(f"{destination.host} has the address {address}, which is not public.")
    return [str(address) for address in addresses]


def is_public(address: IpAddress) -> bool:
    """Tell whether the address is one host on the public internet and hides no other address."""
    if isinstance(address, IPv4Address):
        return not _lies_in(address, _SPECIAL_V4)
    return address in _PUBLIC_V6 and not _lies_in(address, _SPECIAL_V6)


def _host(bracketed: str | None, plain: str | None) -> tuple[str, IpAddress | None]:
    if bracketed is not None:
        try:
            v6 = IPv6Address(bracketed)
        except ValueError:
            raise RefusedUrl(f"[{bracketed}] is not an IPv6 address.") from None
        return str(v6), v6
    host = (plain or "").lower().removesuffix(".")
    labels = host.split(".")
    # Resolvers read 127.1, 0x7f.1, 0177.0.0.1 and 2130706433 as addresses; refused as unusual.
    if _NUMBER.fullmatch(labels[-1]):
        try:
            v4 = IPv4Address(host)
        except ValueError:
            raise RefusedUrl(f"{host[:100]} is not a host name.") from None
        return host, v4
    if len(host) > 253 or not all(map(_LABEL.fullmatch, labels)):
        raise RefusedUrl(f"{host[:100]!r} is not a host name.")
    return host, None


def _objection(tls: bool, port: int, host: str, literal: IpAddress | None) -> str | None:
    if not tls:
        return "The URL must start with https://."
    if literal:
        return f"Name the receiver by its host name, not by its address {literal}."
    if "." not in host or host.rpartition(".")[2] in _PRIVATE_NAMES:
        return f"{host} is not a public host name."
    if port not in PUBLIC_PORTS:
        return f"Port {port} is not allowed; use 443 or 8443."
    return None


def _lies_in(address: IpAddress, networks: Iterable[Network]) -> bool:
    return any(address in network for network in networks)
