"""Sizes known by name only."""

from __future__ import annotations

from ufkit.uff.dims import Dim, exact_quotient, product, show, static

N, H = Dim(("N",)), Dim(("H",))


def test_products_and_quotients_stay_exact() -> None:
    assert 196 * N // 196 == N
    assert N * H // H == N
    assert N * 6 // 4 != N
    assert exact_quotient(N * 6, N * 3) == 2
    assert exact_quotient(6, N) is None
    assert product((N, 4, H)) == N * H * 4


def test_an_unknown_size_equals_nothing_but_itself() -> None:
    unknown = Dim.unknown()
    assert unknown == unknown
    assert unknown != Dim.unknown()
    assert N + 1 != N + 1
    assert N + N == 2 * N
    assert N - N == 0
    assert N + 0 == N


def test_they_read_as_people_write_them() -> None:
    assert show((N, 28, N * 4)) == "[N, 28, 4*N]"
    assert show((Dim.unknown(),)) == "[?]"
    assert show(None) == "[?]"
    assert static((1, 2)) == (1, 2)
    assert static((N, 2)) is None
