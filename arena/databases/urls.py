"""The URLs that databases are named by: what may be said of one without its password."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode, urlsplit

from arena.errors import RefusedError

__all__ = ["is_port", "without_secrets"]

SCHEMES = frozenset({"postgresql", "postgres"})
SECRETS = frozenset(
    {"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"}
)
PORT = re.compile("[0-9]{0,5}")
LAST_PORT = 65535


def without_secrets(url: str) -> str:
    """Return a database's URL as it may be shown.

    Raises:
        RefusedError: It is none, or it cannot be told which part of it is a password; the message
            does not quote it.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    user, at, place = parts.netloc.rpartition("@")
    is_plain = "@" not in user + parts.path + parts.query and not parts.fragment
    if parts.scheme not in SCHEMES or not is_plain or not _has_ports(place):
        is_place = parts.scheme in SCHEMES and is_plain
        reason = f": its port is none, expected 1 to {LAST_PORT}" if is_place else ""
        raise RefusedError(
            f"the database's URL cannot be read{reason}",
            "write it like postgresql://USER@HOST/NAME, and signs such as @ / # in it as %40 and "
            "the like",
        )
    shown = [pair for pair in parse_qsl(parts.query) if pair[0] not in SECRETS]
    query = f"?{urlencode(shown, safe='/')}" if shown else ""
    return f"postgresql://{user.partition(':')[0]}{at}{place}{parts.path}{query}"


def _has_ports(place: str) -> bool:
    """Tell whether what follows the hosts are ports: without USER@ it may be a password."""
    for host in place.split(","):
        name = host.rpartition("]")[2] if host.startswith("[") else host
        if not is_port(name.partition(":")[2]):
            return False
    return True


def is_port(text: str) -> bool:
    """Tell whether a text is a port, or empty, which means the usual one."""
    return bool(PORT.fullmatch(text)) and 1 <= int(text or 1) <= LAST_PORT
