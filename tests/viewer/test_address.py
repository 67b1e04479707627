"""Where the page is said to be."""

from __future__ import annotations

import socket

import pytest

from ufkit.core.diag import FileError
from ufkit.viewer.web.address import Address, listening, url


def test_the_address_is_one_that_can_be_typed() -> None:
    with listening(Address()) as server:
        port = server.getsockname()[1]
        assert url(Address(), server) == f"http://127.0.0.1:{port}/"
        token = Address("0.0.0.0", 0, "secret")
        assert url(token, server) == f"http://{socket.gethostname()}:{port}/?token=secret"
        assert url(Address("fe80::1"), server) == f"http://[fe80::1]:{port}/"


@pytest.mark.parametrize(
    ("host", "local"), [("127.0.0.1", True), ("::1", True), ("0.0.0.0", False)]
)
def test_only_loopback_is_local(host: str, local: bool) -> None:
    assert Address(host).local is local


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(FileError) as caught:
        listening(Address("192.0.2.1"))
    assert caught.value.diagnostic.code == "VWR004"
