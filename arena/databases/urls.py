"""The URLs that databases are named by: what may be said of one without its password."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode, urlsplit

from arena.errors import RefusedError

__all__ = ["without_secrets"]

SCHEMES = frozenset({"postgresql", "postgres"})
SECRETS = frozenset({"password", "sslpassword"})


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
    if parts.scheme not in SCHEMES or "@" in user + parts.path + parts.query or parts.fragment:
        raise RefusedError(
            "the database's URL cannot be read",
            "write it like postgresql://USER@HOST/NAME, and signs such as @ / # in it as %40 and "
            "the like",
        )
    shown = [pair for pair in parse_qsl(parts.query) if pair[0] not in SECRETS]
    query = f"?{urlencode(shown, safe='/')}" if shown else ""
    return f"postgresql://{user.partition(':')[0]}{at}{place}{parts.path}{query}"
