"""A certificate authority of our own, for servers on loopback."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from octo_lab.core.clock import utc_now


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """Signs certificates; ``trusting`` is a client's context that knows it and no other."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate
    folder: Path

    def trusting(self) -> ssl.SSLContext:
        return ssl.create_default_context(
            cadata=self.certificate.public_bytes(Encoding.PEM).decode()
        )

    def serving(self, *names: str) -> ssl.SSLContext:
        """A server's context with a certificate for ``names``."""
        key = ec.generate_private_key(ec.SECP256R1())
        alternatives = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
        leaf = (
            _builder(names[0], self.certificate.subject, key)
            .add_extension(alternatives, critical=False)
            .sign(self.key, SHA256())
        )
        pem = self.folder / f"{names[0]}.pem"
        secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        pem.write_bytes(leaf.public_bytes(Encoding.PEM) + secret)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        return context


def new_authority(folder: Path) -> Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
    certificate = (
        _builder("Test CA", _name("Test CA"), key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .sign(key, SHA256())
    )
    return Authority(key=key, certificate=certificate, folder=folder)


def _builder(
    subject: str, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = utc_now()
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])
