"""Launches with much work, of each family of kernels, and prints what each wrote. test_parallel.py runs it in processes
that spread the work over different numbers of threads."""

import hashlib
import sys
from ctypes import c_double, c_int64, c_uint64

import numpy as np
import test_attention
import test_cells
import test_embedding_bag
import test_fused
import test_index
import test_kernels
import test_random
import test_resampling
import test_rows
import test_windows
from arrays import RANDOM, Device, encode, layout, number, reduced
from library import Runtime


class Recorder(Device):
    def launch(self, name, work, arguments, *, outputs=1, **more):
        super().launch(name, work, arguments, outputs=outputs, **more)
        written = b"".join(one.tobytes() for one in arguments[:outputs] if isinstance(one, np.ndarray))
        print(name, work, hashlib.sha256(written).hexdigest())


def some(dtype, *shape):
    if dtype in ("int64", "int32"):
        return RANDOM.integers(-(2**31), 2**31, shape).astype(dtype)
    return encode(RANDOM.standard_normal(shape).astype(np.float32), dtype)


def points(device):
    for dtype in ("float32", "float16", "float64"):
        long, wide, flat = some(dtype, 200_003), some(dtype, 500, 600), some(dtype, 3, 50_021)
        for name in ("exp", "tanh"):
            for x in (long, long[1::2], wide.T, wide[::2, ::3], flat, some(dtype, 20, 11, 40, 9).transpose(2, 0, 3, 1)):
                device.elementwise(f"{name}_{dtype}", np.zeros_like(x, order="C"), x)
        for a, b in [(long, long[::-1].copy()), (wide, wide[:, :1]), (wide, wide[:1]), (wide, wide.T.copy().T)]:
            device.elementwise(f"pow_{dtype}", np.zeros_like(a), a, b)
        device.elementwise(f"cast_{dtype}_int64", np.zeros(long.shape, np.int64), long)
    x = some("int64", 400, 300)
    for dims in [(0,), (1,), (0, 1)]:
        for array in (x, x.T, some("float32", 700, 300), some("float16", 70, 900)):
            dtype = str(array.dtype)
            for name in ("sum", "amax", "prod"):
                out, made = reduced(dims, array, dtype)
                device.launch(f"{name}_{dtype}", array.size, [out, array, made])
    for size, array in ((8, x.T), (4, some("float32", 3, 70_001)), (2, some("float16", 90, 5, 400)[:, ::2])):
        out = np.zeros(array.shape, array.dtype)
        device.launch(f"copy_{size}", out.size, [out, array, layout(out.shape, out, array)])
        device.launch(f"fill_{size}", out.size, [out, number(array[(0,) * array.ndim]), layout(out.shape, out)])


def products(device):
    sizes = [
        (1, 300, 310, 290),
        (7, 90, 100, 80),
        (40, 3, 64, 33),
        (1, 2, 3001, 200),
        (1, 3001, 2, 200),
        (1, 2000, 70, 9),
    ]
    for batch, m, n, k in sizes:
        for dtype in ("float32", "float16", "float64", "int64"):
            a, b, out = some(dtype, batch, m, k), some(dtype, batch, k, n), some(dtype, batch, m, n)
            for left, right, result in [
                (a, b, out.copy()),
                (test_kernels.transposed(a), test_kernels.transposed(b), test_kernels.transposed(out)),
                (test_kernels.spread(a), test_kernels.spread(b), out.copy()),
            ]:
                test_kernels.product(device, dtype, left, right, result, alpha=-2, beta=3)


def windows(device):
    window = test_windows.Window
    for dtype in ("float32", "bfloat16", "float64"):
        for case in (
            test_windows.Case(dtype, window((40, 41), (3, 3), padding=1), 5, 1, 16, 24),
            test_windows.Case(dtype, window((31, 17), (3, 2), stride=2), 3, 6, 5, 7, "channels last"),
            test_windows.Case(dtype, window((9, 9), (3, 3), padding=1), 30, 1, 20, 3, "with gaps"),
        ):
            out = np.zeros_like(case.grad, order="C")
            given = [out, case.input, case.weight, case.bias, case.struct(case.input, out, case.weight, True)]
            device.launch(f"convolution_{dtype}", out.size, given)
            out = np.zeros_like(case.input, order="C")
            given = [out, case.grad, case.weight, case.struct(out, case.grad, case.weight)]
            device.launch(f"convolution_backward_input_{dtype}", out.size, given)
            out = np.zeros_like(case.weight, order="C")
            given = [out, case.grad, case.input, case.struct(case.input, case.grad, out)]
            device.launch(f"convolution_backward_weight_{dtype}", out.size, given)
        pool = test_windows.Pooling(dtype, window((151, 133), (3, 3), stride=2, padding=1))
        out, back = pool.output(), np.zeros_like(pool.input)
        indices = pool.output(np.zeros(pool.grad.shape, np.int64))
        struct = pool.struct(pool.input, out, indices)
        device.launch(f"max_pool_{dtype}", out.size, [out, indices, pool.input, struct], outputs=2)
        device.launch(f"max_pool_backward_{dtype}", back.size, [back, pool.grad, indices, struct])
        device.launch(f"avg_pool_{dtype}", out.size, [out, pool.input, pool.struct(pool.input, out)])
        device.launch(f"avg_pool_backward_{dtype}", back.size, [back, pool.grad, pool.struct(back, pool.grad)])
        case = test_resampling.Case(test_resampling.CUBIC, (70, 60), (150, 130))
        x, grad = some(dtype, 2, 3, 70, 60), some(dtype, 2, 3, 150, 130)
        out, back = np.zeros_like(grad), np.zeros_like(x)
        device.launch(f"upsample_{dtype}", out.size, [out, x, case.struct(x, out)])
        device.launch(f"upsample_backward_{dtype}", back.size, [back, grad, case.struct(back, grad)])
        sampling = test_resampling.Sampling(
            (70, 60), (150, 130), test_resampling.LINEAR, test_resampling.BORDER, align_corners=True
        )
        grid = some(dtype, 2, 2, 150, 130)
        back_grid = np.zeros_like(grid)
        device.launch(f"grid_sample_{dtype}", out.size, [out, x, grid, sampling.struct(x, out, grid)])
        given = [back, back_grid, grad, x, grid, sampling.backward(x, grad, grid, back, back_grid)]
        device.launch(f"grid_sample_backward_{dtype}", grad.size, given, outputs=2)


def rows(device):
    for sizes in [(500, 300, 1), (6, 70, 500), (40_001, 3, 1)]:
        for dtype in ("float32", "float16"):
            x, y = some(dtype, *sizes), some(dtype, *sizes)
            out, struct = np.zeros_like(x), test_rows.Rows(*sizes)
            for name in ("softmax", "log_softmax", "cumsum"):
                device.launch(f"{name}_{dtype}", x.size, [out, x, struct])
            device.launch(f"softmax_backward_{dtype}", x.size, [out, y, x, struct])
            outer, size, inner = sizes
            best, places = np.zeros((outer, inner), x.dtype), np.zeros((outer, inner), np.int64)
            device.launch(f"row_max_{dtype}", x.size, [best, places, x, struct], outputs=2)
            places = np.zeros(sizes, np.int64)
            struct = test_rows.Sort(*sizes, size, 1)
            device.launch(f"sort_{dtype}", x.size, [out, places, x, struct], outputs=2)
            boundaries = np.sort(some("float32", 9, 1001)).astype(x.dtype)
            places = np.zeros((9, 5000), np.int64)
            given = [places, boundaries, some(dtype, 9, 5000), test_rows.Search(9, 1001, 5000, 1)]
            device.launch(f"searchsorted_{dtype}", places.size, given)
    # Layer norm, group norm, batch norm.
    for sizes in [(700, 300, 1, 1, 1), (60, 2400, 1, 6, 600), (64, 4000, 20, 64, 4000)]:
        norm = test_rows.Norm("float32", sizes, True, True)
        out, mean, rstd = np.zeros_like(norm.x), np.zeros_like(norm.x[0, :, 0]), np.zeros_like(norm.x[0, :, 0])
        given = [out, mean, rstd, norm.x, norm.weight, norm.bias, norm.struct]
        device.launch("row_norm_float32", norm.x.size, given, outputs=3)
        given = [out, norm.grad, norm.x, mean, rstd, norm.weight, norm.struct]
        device.launch("row_norm_backward_float32", norm.x.size, given)
        given = [np.zeros_like(norm.weight), np.zeros_like(norm.bias), norm.grad, norm.x, mean, rstd, norm.struct]
        device.launch("row_norm_backward_weight_float32", norm.x.size, given, outputs=2)


def layers(device):
    for dtype in ("float32", "float16"):
        for options in ({}, {"causal": True, "mask": (3, 1, 70, 90)}, {"kept": 0.7}):
            case = test_attention.Case((3, 5, 70, 90, 16), dtype, **options)
            case.forward(device)
            case.backward(device)
        o = test_cells.Operands(dtype, (150, 70))
        given = [*(o.room(parts) for parts in (1, 1, 4)), o.make(4), o.make(4), o.make(1), o.bias(4), o.bias(4)]
        o.launch(device, "lstm_cell", given, outputs=3)
        given = [o.room(4), o.room(1), *(o.make(1) for _ in range(4)), np.abs(o.make(4))]
        o.launch(device, "lstm_cell_backward", given, outputs=2)
        o.launch(
            device, "gru_cell", [o.room(1), o.room(5), o.make(3), o.make(3), o.make(1), o.bias(3), o.bias(3)], outputs=2
        )
        o.launch(device, "gru_cell_backward", [o.room(3), o.room(3), o.room(1), o.make(1), o.make(5)], outputs=3)


def steps(device):
    missing = test_fused.MISSING
    for dtype in ("float32", "bfloat16"):
        tensors = [
            [np.abs(some(dtype, size)) if dtype == "float32" else some(dtype, size) for _ in range(5)]
            for size in (7, 100_003)
        ]
        arguments = [one for operands in tensors for one in (*operands, test_fused.number(3))]
        options = test_fused.FusedAdam(1e-2, 0.9, 0.99, 0.1, 1e-8, 1, 0)
        device.launch(f"fused_adam_{dtype}", 100_010, [*arguments, missing, missing, missing, options], outputs=12)
        arguments = [one for operands in tensors for one in operands[:3]]
        options = test_fused.FusedSgd(1e-2, 0.1, 0.9, 0.0, 1, 0, 0)
        device.launch(f"fused_sgd_{dtype}", 100_010, [*arguments, missing, missing, missing, options], outputs=6)
    grads = [some("float32", 100_003) for _ in range(2)]
    grads[1][77_777] = np.inf
    given = [*grads, np.zeros((), np.float32), test_fused.number(0.5)]
    device.launch("unscale_float32", 200_006, given, outputs=3)


def random(device):
    for dtype in ("float32", "float16", "float64"):
        shapes = [np.zeros(200_003), np.zeros((300, 500)).T, np.zeros((3, 70_001, 2))[..., 0], np.zeros((400, 40, 9))]
        for room in shapes:
            out = np.zeros_like(room, dtype)
            for name, parameters in [("uniform", [0, 1]), ("normal", [0, 1]), ("exponential", [2])]:
                test_random.draw(device, f"{name}_{dtype}", out, (5, 12), *map(c_double, parameters))
            test_random.draw(device, f"random_{dtype}", out, (5, 12), c_int64(0), c_uint64(1000))
            chances = RANDOM.random(out.shape).astype(np.float32)
            test_random.draw(device, f"bernoulli_{dtype}", out, (5, 12), inputs=[chances])
            given = [np.zeros(out.shape, bool), some(dtype, *out.shape)]
            test_random.draw(
                device, f"dropout_{dtype}", out, (5, 12), c_double(0.7), c_double(1 / 0.7), inputs=given, outputs=2
            )


def indices(device):
    for size in (2, 8):
        table = test_index.bytes_of(size, 900, 70)
        for dim in (0, 1):
            at = RANDOM.integers(0, table.shape[dim], 3000)
            at = np.broadcast_to(at if dim else at[:, None], (900, 3000) if dim else (3000, 70))
            test_index.index(device, f"gather_{size}", np.zeros(at.shape, table.dtype), table, [at], [dim], indexed=1)
        at = RANDOM.integers(0, 900, (3000, 70))
        test_index.index(
            device, f"scatter_{size}", table.copy(), test_index.bytes_of(size, 3000, 70), [at], [0], indexed=0
        )
    test_index.index(
        device, "scatter_add_float32", some("float32", 900, 70), some("float32", 3000, 70), [at], [0], indexed=0
    )
    device.launch(
        "arange_float32",
        100_003,
        [
            np.zeros(100_003, np.float32),
            layout((100_003,), np.zeros(100_003, np.float32)),
            c_double(0.1),
            c_double(0.3),
        ],
    )
    weight, at = some("float32", 500, 64), RANDOM.integers(0, 500, 9000)
    offsets = np.sort(RANDOM.integers(0, 9000, 1500))
    offsets[0] = 0
    for kind in test_embedding_bag.REDUCTIONS:
        made = test_embedding_bag.results(weight, offsets, at, kind)
        test_embedding_bag.launch(device, "float32", made, weight, at, offsets, None, kind)
    x, at = some("float32", 3000, 40), RANDOM.integers(0, 40, 3000)
    one, total = np.ones((), np.float32), np.ones((), np.float32)
    for name, out, given in (("nll_loss", np.zeros((), np.float32), x), ("nll_loss_backward", np.zeros_like(x), one)):
        test_index.loss(device, name, "float32", out, total, given, at, None, "mean")


FAMILIES = [points, products, windows, rows, layers, steps, random, indices]


def main():
    device = Recorder(Runtime(sys.argv[1]))
    for family in FAMILIES:
        family(device)


if __name__ == "__main__":
    main()
