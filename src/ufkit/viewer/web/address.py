"""Where the page is: the address that is listened on, and what is typed to get there."""

from __future__ import annotations

import socket
from dataclasses import dataclass

from ufkit.core.diag import FileError, Where
from ufkit.viewer.rules import ADDRESS_TAKEN


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen: any free port where it is 0; `token` has to be given by who asks."""

    host: str = "127.0.0.1"
    port: int = 0
    token: str = ""

    @property
    def local(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in ("127.0.0.1", "localhost", "::1")


def listening(address: Address) -> socket.socket:
    """A listening socket on the address. Raises FileError (VWR004) where there can be none."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    server = socket.socket(family)
    try:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((address.host, address.port))
        server.listen()  # who comes before files are open waits
    except (OSError, OverflowError) as error:
        server.close()
        message = f"{address.host} port {address.port}: {error}"
        raise FileError(ADDRESS_TAKEN.at(Where(), message)) from error
    return server


def url(address: Address, server: socket.socket) -> str:
    """The address of the page, with the token where there is one."""
    everywhere = address.host in ("0.0.0.0", "::")
    host = socket.gethostname() if everywhere else address.host
    host = f"[{host}]" if ":" in host else host
    query = f"?token={address.token}" if address.token else ""
    return f"http://{host}:{server.getsockname()[1]}/{query}"
