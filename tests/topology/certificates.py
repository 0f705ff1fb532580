"""Certificates for servers and clients of a test."""

from __future__ import annotations

import subprocess
from pathlib import Path


class Certificates:
    """A CA of its own and a certificate of a name, for servers and clients."""

    def __init__(self, directory: Path, name: str) -> None:
        self.ca, self.cert, self.key = (directory / f"{one}.pem" for one in ("ca", "cert", "key"))
        ca_key, request, names = (directory / one for one in ("ca.key", "request", "names"))
        names.write_text(f"subjectAltName=DNS:{name}\n")
        new = f"openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN={name}"
        for command in (
            f"{new} -x509 -days 2 -keyout {ca_key} -out {self.ca}",
            f"{new} -keyout {self.key} -out {request}",
            f"openssl x509 -req -days 2 -in {request} -CA {self.ca} -CAkey {ca_key} "
            f"-CAcreateserial -extfile {names} -out {self.cert}",
        ):
            subprocess.run(command.split(), check=True, capture_output=True)

    def options(self) -> list[str]:
        files = ["--tls-cert-file", str(self.cert), "--tls-key-file", str(self.key)]
        return [*files, "--tls-ca-cert-file", str(self.ca), "--tls-replication", "yes"]
