"""A name server on loopback for the system's resolver, so that a test can choose the addresses of a
name, and change them."""

import ctypes
import socket
import struct
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from chalicelib.safe_post.post import addresses_of

_A, _AAAA = 1, 28


@dataclass
class NameServer:
    """`zone`: name → its answers in order; the last one is repeated. An answer is a list of
    addresses. Other names do not exist."""

    zone: dict[str, list[list[str]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.sendto(b"", self._socket.getsockname())
        self._thread.join()
        self._socket.close()

    def resolve(self, host: str, port: int) -> Sequence[str]:
        """`getaddrinfo` of the C library, whose state of this thread names this server (glibc:
        `struct __res_state` has the number of servers at 16 and the first one's address at 20)."""
        library = ctypes.CDLL(None)
        # In brackets: Python mangles names with two underscores inside a class.
        library["__res_init"]()
        state_of_thread = library["__res_state"]
        state_of_thread.restype = ctypes.c_void_p
        state = state_of_thread()
        server = struct.pack(
            "=H2s4s8x",
            socket.AF_INET,
            self._socket.getsockname()[1].to_bytes(2, "big"),
            socket.inet_aton("127.0.0.1"),
        )
        ctypes.c_int.from_address(state + 16).value = 1
        ctypes.memmove(state + 20, server, len(server))
        return addresses_of(host, port)

    def _serve(self) -> None:
        while True:
            query, client = self._socket.recvfrom(4_096)
            if not query:
                return
            self._socket.sendto(self._answer(query), client)

    def _answer(self, query: bytes) -> bytes:
        labels, place = [], 12
        while length := query[place]:
            labels.append(query[place + 1 : place + 1 + length].decode())
            place += 1 + length
        name, kind = ".".join(labels).lower(), int.from_bytes(query[place + 1 : place + 3], "big")
        answers = self.zone.get(name)
        # The resolver asks for both kinds; after the second question the answer changes.
        addresses = answers[0] if answers else []
        if answers and kind == _AAAA:
            self.asked.append(name)
            if len(answers) > 1:
                del answers[0]
        records = [
            b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 0, len(packed)) + packed
            for packed in map(_packed, addresses)
            if len(packed) == (4 if kind == _A else 16)
        ]
        code = 0 if answers else 3  # NXDOMAIN
        head = query[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(records), 0, 0)
        return head + query[12 : place + 5] + b"".join(records)


def _packed(address: str) -> bytes:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.inet_pton(family, address)
