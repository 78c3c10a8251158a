"""Whether the engine that was there at the beginning still is."""

from __future__ import annotations

import socket

__all__ = ["ANSWER_SECONDS", "Session", "ping"]

ANSWER_SECONDS = 20
"""How long the engine may take for any answer but that of a build, a pull or an archive."""

EVENTS = (
    "/events?filters=%7B%22type%22:%5B%22container%22%5D,%22label%22:%5B%22bura.nothing%22%5D%7D"
)
"""Those of containers with a label that none has."""


class Session:
    """A call to the engine without end: when it ends, the engine was stopped or restarted.

    After that no exit code can be believed, since a restarted engine invents one. The call asks for
    events that never happen, because engines close connections without a call after minutes.
    """

    def __init__(self, path: str | None) -> None:
        """Begin the call.

        Args:
            path: The engine's socket; None if it is reached in another way, of which nothing is
                noticed here.

        Raises:
            OSError: If the engine does not answer.
        """
        self._path = path
        self._socket = None if path is None else _ask(path, EVENTS, b"\r\n\r\n")

    def is_alive(self) -> bool:
        """Tell whether the engine that was there at the beginning still is."""
        if self._socket is None:
            return True
        try:
            # Whatever comes now is the end.
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def takes_calls(self) -> bool:
        """Tell whether the engine lives and still answers new connections.

        One that is shutting down ends its containers first, and its old connections last.
        """
        if not self.is_alive():
            return False
        if self._path is None:
            return True
        try:
            ping(self._path).close()
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()


def ping(path: str) -> socket.socket:
    """Return a connection on which the engine has answered.

    Raises:
        OSError: If it does not; in time, or with anything but yes.
    """
    return _ask(path, "/_ping", b"OK")


def _ask(path: str, what: str, end: bytes) -> socket.socket:
    """Ask the engine for something, and return the connection when the answer's beginning is in."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(ANSWER_SECONDS)
        connection.connect(path)
        connection.sendall(f"GET {what} HTTP/1.1\r\nHost: engine\r\n\r\n".encode())
        answer = b""
        while not answer.endswith(end):
            part = connection.recv(4096)
            if not part:
                raise ConnectionResetError("the engine closed the connection")  # noqa: TRY301 - closed below
            answer += part
        if not answer.startswith(b"HTTP/1.1 200"):
            raise ConnectionRefusedError(answer.partition(b"\r\n")[0].decode(errors="replace"))  # noqa: TRY301 - closed below
        # With a timeout Python would wait for it even if told not to.
        connection.settimeout(0)
    except BaseException:
        connection.close()
        raise
    return connection
