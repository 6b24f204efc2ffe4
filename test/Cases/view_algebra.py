"""Every way to make a view, in HBM and on chip, against NumPy's: view_algebra.py --case views_in_hbm.

A row has the view of NumPy's array, or what is refused, with the id of the rule. NumPy's strides are the pattern
a view must have, its elements what a copy of the view must give.
"""

import re

import numpy as np
from numpy.lib.stride_tricks import as_strided

from kit import HERE, case, expect, expect_equal, kiln, line_of, main, save

X = np.random.default_rng(1).standard_normal((4, 6, 8), dtype=np.float32)
KERNEL = str(HERE / "view_algebra.cpp:view_of")


def raw(x, offset, *pairs):
    flat = x.reshape(-1)[offset:]
    return as_strided(flat, [n for _, n in pairs], [4 * step for step, _ in pairs])


# HBM, on chip: a function of x, or the rule that refuses it. One entry: the same in both.
VIEWS = [
    (lambda x: x[..., 1:8:3],),
    (lambda x: x[1:3, -4:, :-1:2],),
    (lambda x: x[:, 2],),
    (lambda x: x[:, -1, 5], lambda x: x[:, -1, 5:6]),
    (lambda x: x[2], lambda x: x[2:3]),
    (lambda x: x[0, 0, 7:8], lambda x: x[0:1, 0, 7:8]),
    (lambda x: x[:, 1:6:2],),
    (lambda x: x[:, 3],),
    (lambda x: x[:, :, 0],),
    (lambda x: x.transpose(0, 2, 1),),
    (lambda x: as_strided(x[:, 2], (4, 5, 8), (192, 0, 4)),),
    (lambda x: x[:, None],),
    (lambda x: x[..., None],),
    (lambda x: x[:, 5],),
    (lambda x: x.reshape(4, 6, 2, 4),),
    (lambda x: x.reshape(4, 3, 2, 8).transpose(0, 2, 1, 3),),
    (lambda x: x.reshape(4, 48),),
    (lambda x: x.reshape(4, 3, 16),),
    (lambda x: as_strided(x, (4, 3, 2, 4), (192, 64, 16, 4)),),
    (lambda x: x.view(np.int32),),
    (lambda x: x[:, 1:4].view(np.uint8),),
    (lambda x: raw(x, 7, (48, 3), (1, 5), (9, 4)),),
    (lambda x: raw(x, 0, (48, 4), (0, 2), (8, 6)),),
    (lambda x: x[:, 1:5, 2:8:4],),
    (lambda x: x.transpose(1, 0, 2), "V-06"),
    (lambda x: x[0:4:2], "P-08"),
    (lambda x: x.reshape(24, 8), "V-04"),
    (lambda x: x.reshape(24, 8), "V-06"),
    (lambda x: as_strided(x[1], (3, 6, 8), (0, 32, 4)), "V-06"),
    (lambda x: x[None], "V-06"),
    (lambda x: x[1], "V-06"),
    (lambda x: x.reshape(2, 2, 6, 8), "V-06"),
    (lambda x: raw(x, 0, (96, 2), (1, 8)), "V-10"),
    ("V-01",),
    ("V-02",),
    ("V-02",),
    ("P-14",),
    ("V-03",),
    ("V-04",),
    ("V-05",),
    ("V-05",),
    ("V-07",),
    ("V-07",),
    ("V-03",),
    ("V-11",),
    ("V-16",),
    ("D-15",),
    ("V-01",),
    ("S-06",),
]


def check(is_on_chip):
    x = save("x.npy", X)
    first = line_of("view_algebra.cpp", "t(nl::dots, nl::slice(1, 8, 3))")
    last = line_of("view_algebra.cpp", "t.reshape({2, 2, 2, 3, 2, 4})")
    for which, row in enumerate(VIEWS):
        expected, what = row[is_on_chip and len(row) > 1], f"view {which}, on chip {is_on_chip}"
        arguments = [KERNEL, x, which, str(is_on_chip).lower()]
        if isinstance(expected, str):
            message = kiln("run", *arguments, code=1)[1]
            found = re.search(r"view_algebra.cpp:(\d+): error\[(.*?)\]: ", message)
            expect(found and found[2] == expected and first <= int(found[1]) <= last, f"{what}: {expected}\n{message}")
            continue
        view = expected(X)
        stdout, stderr = kiln("run", *arguments, "-o", "y.npy")
        found = np.load(kiln.scratch / "y.npy")
        expect_equal((found.dtype, found.shape), (view.dtype, view.shape), f"{what}\n{stderr}")
        expect(found.tobytes() == np.ascontiguousarray(view).tobytes(), f"{what}: other elements")
        pattern = [tuple(map(int, pair)) for pair in re.findall(r" (-?\d+),(\d+)", stdout + stderr)]
        strides = [stride // view.itemsize for stride in view.strides]
        # The stride of a dim of one element has no meaning.
        expect_equal([(s, n) for s, n in pattern if n > 1],
                     [(s, n) for s, n in zip(strides, view.shape) if n > 1], f"{what}: pattern")
        inside = view[0] if is_on_chip else view
        said = re.search(r"contiguous (\d)", stdout + stderr)[1]
        expect_equal(said, str(int(inside.flags.c_contiguous)), f"{what}: contiguous")


@case
def views_in_hbm():
    """Views of a tensor in HBM, where no dim is special."""
    check(False)


@case
def views_on_chip():
    """Views of a tile, whose dim 0 counts partitions."""
    check(True)


main()
