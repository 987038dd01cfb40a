"""A certificate authority for tests, and server certificates that it signs."""

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Certificates:
    server: ssl.SSLContext
    """What the receiver shows."""
    trusting: ssl.SSLContext
    """A client that trusts the authority."""
    authority: Path
    """The authority's certificate, for SSL_CERT_FILE."""


def issue(directory: Path, *names: str, valid_for: timedelta = timedelta(days=1)) -> Certificates:
    """A certificate for `names`, host names and addresses; a negative `valid_for` has expired."""
    authority_key = ec.generate_private_key(ec.SECP256R1())
    server_key = ec.generate_private_key(ec.SECP256R1())
    authority = _certificate("Test authority", authority_key.public_key(), timedelta(days=1))
    authority = authority.add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
    authority = authority.add_extension(
        x509.SubjectKeyIdentifier.from_public_key(authority_key.public_key()), False
    )
    alternatives = x509.SubjectAlternativeName(list(map(_alternative, names)))
    server = _certificate(names[0], server_key.public_key(), valid_for)
    server = server.add_extension(alternatives, False)
    server = server.add_extension(
        x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()), False
    )

    directory.mkdir(parents=True, exist_ok=True)
    authority_file, server_file = directory / "authority.pem", directory / "server.pem"
    signed = authority.sign(authority_key, hashes.SHA256())
    authority_file.write_bytes(signed.public_bytes(Encoding.PEM))
    secret = server_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    shown = server.sign(authority_key, hashes.SHA256()).public_bytes(Encoding.PEM)
    server_file.write_bytes(secret + shown)

    showing = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    showing.load_cert_chain(server_file)
    return Certificates(
        showing, ssl.create_default_context(cafile=str(authority_file)), authority_file
    )


def _certificate(
    name: str, key: ec.EllipticCurvePublicKey, valid_for: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test authority")]))
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now + valid_for)
    )


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)
