"""Graphs to lay out: nets as people build them, and graphs that are hard on a layout."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from ufkit.viewer.layout.diagram import Diagram

Link = tuple[int, int]
_WIDTHS, _HEIGHTS = (70.0, 90.0, 110.0, 140.0, 180.0), (24.0, 24.0, 50.0, 66.0)


@dataclass
class Net:
    """Nodes by number, in the order they are made, and the name scope of each."""

    scopes: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)

    def node(self, scope: str, *inputs: int) -> int:
        self.links += [(source, len(self.scopes)) for source in inputs]
        self.scopes.append(scope)
        return len(self.scopes) - 1

    def chain(self, scope: str, x: int, length: int) -> int:
        for _ in range(length):
            x = self.node(scope, x)
        return x

    def diagram(self, *, grouped: bool = False) -> Diagram:
        """Boxes of mixed sizes; with groups for the scopes where asked for."""
        sizes = random.Random(len(self.scopes))
        widths = [sizes.choice(_WIDTHS) for _ in self.scopes]
        heights = [sizes.choice(_HEIGHTS) for _ in self.scopes]
        if not grouped:
            return Diagram(widths, heights, self.links)
        parents: list[int] = []
        group_parents: list[int] = []
        numbers: dict[str, int] = {"": -1}
        for scope in self.scopes:
            above = -1
            for end in (at for at, letter in enumerate(f"{scope}/") if letter == "/"):
                name = scope[:end]
                if name not in numbers:
                    numbers[name] = len(group_parents)
                    group_parents.append(above)
                above = numbers[name]
            parents.append(above)
        return Diagram(widths, heights, self.links, parents, group_parents)


def resnet(net: Net, x: int, name: str, size: int) -> int:
    """Blocks with a way around them, every fourth with a node in it."""
    start, block = len(net.scopes), 0
    while len(net.scopes) - start < size:
        scope = f"{name}/block{block}"
        around = x if block % 4 else net.node(scope, x)
        x = net.chain(scope, net.node(scope, net.chain(scope, x, 7), around), 1)
        block += 1
    return x


def inception(net: Net, x: int, name: str, size: int) -> int:
    """Four branches of different lengths, some of them split at the end."""
    start, block = len(net.scopes), 0
    while len(net.scopes) - start < size:
        scope = f"{name}/mixed{block}"
        ends = [
            net.chain(f"{scope}/branch{at}", x, length) for at, length in enumerate((3, 6, 9, 4))
        ]
        if block % 3 == 2:
            inner = f"{scope}/branch2"
            ends[2] = net.node(inner, net.node(inner, ends[2]), net.node(inner, ends[2]))
        x = net.node(scope, *ends)
        block += 1
    return x


def unet(net: Net, x: int, name: str, size: int) -> int:
    """Down and up, with links across."""
    skips = []
    for at in range(5):
        x = net.chain(f"{name}/down{at}", x, max(2, size // 12))
        skips.append(x)
        x = net.node(f"{name}/down{at}", x)
    for at in reversed(range(5)):
        scope = f"{name}/up{at}"
        x = net.chain(scope, net.node(scope, net.node(scope, x), skips[at]), max(2, size // 12))
    return x


def ssd(net: Net, x: int, name: str, size: int) -> int:
    """A backbone, six heads of three branches each, joined at the end."""
    x = resnet(net, x, f"{name}/backbone", max(20, size - 130))
    where, what, anchors = [], [], []
    for at in range(6):
        where.append(net.chain(f"{name}/head{at}/where", x, 5))
        what.append(net.chain(f"{name}/head{at}/what", x, 5))
        anchors.append(net.node(f"{name}/anchors", x))
        x = net.chain(f"{name}/extra{at}", x, 6)
    ends = [net.node(name, *where), net.chain(name, net.node(name, *what), 1)]
    return net.node(name, *ends, net.node(name, *anchors))


def transformer(net: Net, x: int, name: str, size: int) -> int:
    """Attention with shapes computed beside it; all layers take the same mask."""
    mask = net.node(name, x)
    start, layer = len(net.scopes), 0
    while len(net.scopes) - start < size:
        scope = f"{name}/layer{layer}"
        at = f"{scope}/attention"
        h = net.chain(scope, x, 2)
        query, key, value = (net.chain(at, h, 4) for _ in range(3))
        score = net.chain(at, net.node(at, net.node(at, query, key), mask), 1)
        shape = net.node(at, h)
        shape = net.node(at, net.node(at, shape), net.node(at, shape))
        out = net.node(at, net.node(at, score, value), shape)
        x = net.node(scope, x, net.node(at, out))
        h = net.chain(f"{scope}/mlp", x, 3)
        h = net.node(f"{scope}/mlp", h, net.node(f"{scope}/mlp", h))
        x = net.node(scope, x, net.chain(f"{scope}/mlp", h, 2))
        layer += 1
    return x


def pyramid(net: Net, x: int, name: str, size: int) -> int:
    """Five sizes of a map that exchange what they know, down and up, again and again."""
    maps = []
    for at in range(5):
        x = resnet(net, x, f"{name}/stage{at}", size // 20)
        maps.append(x)
    start, turn = len(net.scopes), 0
    while len(net.scopes) - start < size * 3 // 4:
        scope = f"{name}/fusion{turn}"
        down = [maps[-1]]
        for level in reversed(maps[:-1]):
            joined = net.node(scope, level, net.node(scope, down[0]))
            down.insert(0, net.chain(scope, joined, 3))
        up = [down[0]]
        for at in range(1, 5):
            more = [maps[at]] if at < 4 else []
            joined = net.node(scope, net.node(scope, up[-1]), down[at], *more)
            up.append(net.chain(scope, joined, 3))
        maps = up
        turn += 1
    return net.node(name, *maps)


KINDS: dict[str, Callable[[Net, int, str, int], int]] = {
    "resnet": resnet,
    "inception": inception,
    "unet": unet,
    "ssd": ssd,
    "transformer": transformer,
    "pyramid": pyramid,
}


def one_kind(kind: str, size: int) -> Net:
    """About `size` nodes of one kind of net."""
    net = Net()
    KINDS[kind](net, net.node(""), kind, size)
    return net


def mixed(size: int) -> Net:
    """All kinds one after the other, and a link here and there over up to 120 nodes."""
    net = Net()
    x = net.node("")
    for kind, build in KINDS.items():
        x = build(net, x, kind, size // len(KINDS))
    chosen = random.Random(7)
    count = len(net.scopes)
    for _ in range(size // 60):
        first = chosen.randrange(count - 1)
        net.links.append((first, min(count - 1, first + chosen.randrange(2, 120))))
    return net


def plain(count: int, links: list[Link]) -> Net:
    return Net([""] * count, links)


def _random_links(count: int, links: int, *, down: bool) -> list[Link]:
    chosen = random.Random(count)
    made = [(chosen.randrange(count), chosen.randrange(count)) for _ in range(links)]
    return [(min(link), max(link)) for link in made] if down else made


def nested(depth: int) -> Diagram:
    """A chain that goes into `depth` groups in each other and out again."""
    inside = [*range(depth), *reversed(range(depth))]
    links = [(at, at + 1) for at in range(2 * depth - 1)]
    sizes = [80.0] * len(inside), [24.0] * len(inside)
    return Diagram(*sizes, links, inside, [at - 1 for at in range(depth)])


def tangled_groups() -> Diagram:
    """Links at random between boxes of groups at random."""
    chosen = random.Random(5)
    parents = [chosen.randrange(500) for _ in range(3000)]
    groups = [chosen.randrange(-1, at) if at else -1 for at in range(500)]
    links = _random_links(3000, 5000, down=False)
    return Diagram([80.0] * 3000, [24.0] * 3000, links, parents, groups)


HARD: dict[str, Callable[[], Diagram]] = {
    "star of 5,000": lambda: plain(5001, [(0, at) for at in range(1, 5001)]).diagram(),
    "hub that 2,500 take": lambda: plain(
        5001,
        [*((at, at + 1) for at in range(5000)), *((0, at) for at in range(2, 5001, 2))],
    ).diagram(),
    "long skips": lambda: plain(
        3000, [*((at, at + 1) for at in range(2999)), *((at, 2999 - at) for at in range(1499))]
    ).diagram(),
    "skips of 29": lambda: plain(
        3000, [*((at, at + 1) for at in range(2999)), *((at, at + 29) for at in range(2971))]
    ).diagram(),
    "chain of 20,000": lambda: plain(20_000, [(at, at + 1) for at in range(19_999)]).diagram(),
    "all to all, 200 and 200": lambda: plain(
        400, [(at, 200 + to) for at in range(200) for to in range(200)]
    ).diagram(),
    "complete, 150": lambda: plain(
        150, [(at, to) for at in range(150) for to in range(at + 1, 150)]
    ).diagram(),
    "random, 5,000 and 7,500": lambda: plain(5000, _random_links(5000, 7500, down=True)).diagram(),
    "random with cycles, 5,000 and 10,000": lambda: plain(
        5000, _random_links(5000, 10_000, down=False)
    ).diagram(),
    "10,000 alone": lambda: plain(10_000, []).diagram(),
    "cycle of 5,000": lambda: plain(5000, [(at, (at + 1) % 5000) for at in range(5000)]).diagram(),
    "tree of 8,191": lambda: plain(8191, [((at - 1) // 2, at) for at in range(1, 8191)]).diagram(),
    "200 groups in each other": lambda: nested(200),
    "tangled groups": tangled_groups,
}
