"""No argument, however strange, makes an operator of the device's own read memory that isn't there."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

CALLS = 40


@pytest.mark.quick
@pytest.mark.requires_ops("core")
@pytest.mark.requires_runtime("kernels")  # of some arguments the CPU's own kernels die
def test_strange_arguments_raise_where_the_cpu_does():
    finds_nothing("argument_fuzz.py", str(CALLS))


@pytest.mark.requires_ops("core")
@pytest.mark.requires_runtime("kernels", "tracing")  # which test_counts.py takes
def test_a_tensor_of_wrong_sizes_or_dtype_is_no_end():
    finds_nothing("wrong_tensors.py")


def finds_nothing(script, *arguments):
    command = [sys.executable, Path(__file__).parent / script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert not done.stdout, done.stdout + done.stderr[-3000:]


A = torch.ops.aten
HUGE = [1 << 62, 1 << 62]
# The CPU dies of most of these, or computes with what isn't there.
REFUSED = {
    "columns": (lambda x, w: A.col2im(x, [1 << 62, 4], [1 << 62, 4], [3, 3], [6, 6], [1, 6]), "must be below"),
    "windows": (lambda x, w: A.im2col(x[None], [1 << 32, 1 << 32], [1, 1], [0, 0], [1, 1]), "must be below"),
    "pool": (lambda x, w: A.max_pool2d_with_indices(x[None], HUGE, [1, 1]), "overflow"),
    "pool's stride": (lambda x, w: A.max_pool2d_with_indices(x[None], [2, 2], HUGE), "overflow"),
    "no statistics": (lambda x, w: A._native_batch_norm_legit.no_stats(x, w, w, False, 0.0, 1e-5), "statistics"),
    "none either": (lambda x, w: A.native_batch_norm(x, w, w, None, None, False, 0.0, 1e-5), "statistics"),
    "out=": (
        lambda x, w: A.native_batch_norm.out(
            x, w, w, None, w, False, 0.0, 1e-5, out=x.clone(), save_mean=w.clone(), save_invstd=w.clone()
        ),
        "statistics",
    ),
    "out= of whole numbers": (
        lambda x, w: A.native_batch_norm.out(
            x, w, w, None, None, True, 0.0, 1e-5, out=x.long(), save_mean=w.clone(), save_invstd=w.clone()
        ),
        "dtype float, but got long",
    ),
    "places that are no whole numbers": (
        lambda x, w: A.fractional_max_pool2d.output(
            *(x[None], [2, 2], [1, 1], torch.rand(1, 1, 2, device=x.device)),
            output=torch.empty(0, device=x.device),
            indices=torch.empty(0, device=x.device),
        ),
        "dtype long int, but got float",
    ),
    "gradient": (
        lambda x, w: A.native_batch_norm_backward(x, x, w, None, None, None, None, False, 1e-5, [True] * 3),
        "statistics",
    ),
    "of training": (
        lambda x, w: A.native_batch_norm_backward(x, x, w, w, w, None, w, True, 1e-5, [True] * 3),
        "statistics",
    ),
    "another gradient": (
        lambda x, w: A.native_batch_norm_backward(x[:1], x, w, w, w, None, None, False, 1e-5, [True] * 3),
        "sizes of its input",
    ),
    "variance": (lambda x, w: A._native_batch_norm_legit(x, w, w, w, w[:2], False, 0.0, 1e-5), "3 channels"),
    "weight": (lambda x, w: A.native_batch_norm(x, w[:2], w, None, None, True, 0.0, 1e-5), "3 channels"),
    "saved": (
        lambda x, w: A.native_batch_norm_backward(x, x, w, None, None, w[:2], w, True, 1e-5, [True] * 3),
        "3 channels",
    ),
    "embedding": (
        lambda x, w: A.embedding_dense_backward(x.cfloat(), torch.tensor([0, 1000000], device=x.device), 3, -100, True),
        "out of the range",
    ),
    "before it": (
        lambda x, w: A.embedding_dense_backward(x.cfloat(), torch.tensor([0, 1, -1], device=x.device), 3, -100, True),
        "out of the range",
    ),
    "padding": (
        lambda x, w: A.embedding_dense_backward(x.cfloat(), torch.tensor([0, -100, 2], device=x.device), 3, -100, True),
        "out of the range",
    ),
    "a step": (
        lambda x, w: A._fused_sgd_(
            *([x], [w[:2]], []),
            **dict(weight_decay=0.0, momentum=0.0, lr=1.0, dampening=0.0, nesterov=False, maximize=False),
            is_first_step=False,
        ),
        "sizes and strides of their parameter",
    ),
    "a gradient of padding": (lambda x, w: A.replication_pad1d_backward(x[None, :0], x, [0, 1]), "isn't one of"),
    "reflected too far": (
        lambda x, w: A.reflection_pad1d_backward(torch.ones(3, 8, device=x.device), x, [5, 0]),
        "isn't one of|Padding size should be less",
    ),
    "windows that don't fit": (
        lambda x, w: A.unfold_backward(x, [0], -1, 3, 100),
        "maximum size for tensor at dimension 0 is 0",
    ),
    "a window of no dimensions that is too large": (
        lambda x, w: A.unfold_backward(x[0], [], 0, 100, 100),
        "maximum size for tensor at dimension 0 is 1",
    ),
    "a gated unit of another dtype": (
        lambda x, w: A.glu_backward(x[:, :0].double(), x[:, :0], 1),
        "expected Float|Found dtype",
    ),
    "distances of fewer points": (
        lambda x, w: A._cdist_backward(w, x, x[:, :0], 0.5, w),
        "takes points as the rows of matrices",
    ),
    "a pool of more samples": (
        lambda x, w: A._adaptive_avg_pool2d_backward(x[None, None], x.expand(2, 1, 3, 3)),
        "samples and channels of its input",
    ),
    "a pool of fewer channels": (
        lambda x, w: A._adaptive_avg_pool3d_backward(x.expand(1, 1, 1, 3, 3), x.expand(1, 2, 1, 3, 3)),
        "samples and channels of its input",
    ),
    "a pool of no points": (
        lambda x, w: A._adaptive_avg_pool2d_backward(x[None], x[None, :, :0]),
        "without elements",
    ),
    "no samples": (
        lambda x, w: A.adaptive_max_pool2d_backward(x[None, None], x[None, None][:0], x[None, None].long()),
        "samples and channels of its input",
    ),
    "indices of less": (
        lambda x, w: A.adaptive_max_pool3d_backward(x[None, None], x[None, None], x[None, None, :1].long()),
        "sizes of its gradient",
    ),
    "a volume's gradient": (
        lambda x, w: A.max_pool3d_with_indices_backward(
            *(x.expand(2, 1, 3, 3, 3), x.expand(1, 1, 3, 3, 3)),
            *([1] * 3, [1] * 3, [0] * 3, [1] * 3, False, x.long().expand(2, 1, 3, 3, 3)),
        ),
        "samples and channels of its input",
    ),
    "samples of a grid": (
        lambda x, w: A.grid_sampler_3d_backward(
            x[:0], x.expand(1, 1, 3, 3, 3), x.expand(1, 3, 3, 3, 3), 0, 0, False, [True] * 2
        ),
        "the gradient of samples",
    ),
    "a loss of samples": (
        lambda x, w: A.multi_margin_loss_backward(w[:0], x, w.long(), 1, 1),
        "an element for each",
    ),
    "a loss of lists": (
        lambda x, w: A.multilabel_margin_loss_backward(w[:2], x, x.long(), 0, x),
        "an element for each",
    ),
    "a layer's gradient": (
        lambda x, w: A.native_layer_norm_backward(x[:1], x, [3], w[:, None], w[:, None], w, w, [True] * 3),
        "sizes of its input",
    ),
    "a layer's statistics": (
        lambda x, w: A.native_layer_norm_backward(x, x, [3], w[:, None], w[:1], w, w, [True] * 3),
        "for each of 3 rows",
    ),
    "bags of fewer indices": (
        lambda x, w: A._embedding_bag_per_sample_weights_backward(x, x, w.long(), w.long(), w[:1].long(), 0),
        "must have the sizes of the indices",
    ),
    "bags without sizes": (
        lambda x, w: A._embedding_bag_dense_backward(
            *(x, w.long(), w.long(), w[:0].long(), w[:0].long()), 3, False, 1, None
        ),
        "the size of each of 3 bags",
    ),
    "bags that are rows": (
        lambda x, w: A._embedding_bag_forward_only(x, x.bool(), w.long()),
        "all bags in one dimension",
    ),
    "strides": (lambda x, w: A.set_(x, x.untyped_storage(), 0, [6], [-1]), "no negative strides"),
    "softmax": (lambda x, w: A._softmax_backward_data(x, w, 0, torch.float32), "sizes of its result"),
    "log_softmax": (
        lambda x, w: A._log_softmax_backward_data(
            torch._efficientzerotensor((2, 0), device=x.device), w[0], 0, torch.int8
        ),
        "sizes of its result",
    ),
}


@pytest.mark.requires_ops("core")
@pytest.mark.requires_runtime("kernels")
@pytest.mark.quick
@pytest.mark.parametrize("name", REFUSED)
def test_what_a_kernel_would_not_survive_is_refused_at_the_call(device, name):
    call, words = REFUSED[name]
    with pytest.raises((RuntimeError, IndexError), match=words):
        call(torch.ones(3, 3, device=device), torch.ones(3, device=device))


@pytest.mark.quick
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool], ids=str)
def test_nothing_is_no_number(device, dtype):
    for empty in (torch.empty(0, dtype=dtype, device=device), torch.empty(2, 0, dtype=dtype, device=device).t()):
        with pytest.raises(RuntimeError, match="a Tensor with 0 elements cannot be converted to Scalar"):
            torch.ops.aten._local_scalar_dense(empty)


@pytest.mark.requires_ops("core")
@pytest.mark.quick
@pytest.mark.parametrize(
    "use",
    [
        lambda x: x + 1,
        lambda x: x.fill_(1),
        lambda x: x.cpu(),
        lambda x: x.copy_(torch.ones(4)),
        lambda x: x.clone(),
        torch.ops.aten._local_scalar_dense,
        pytest.param(lambda x: x.digamma(), marks=pytest.mark.requires_ops("full")),
        lambda x: torch.ceil(x, out=x),
    ],
    ids=["native", "fill", "to the CPU", "from the CPU", "clone", "item", "emulated", "out"],
)
def test_a_storage_that_was_freed_is_not_read(device, use):
    x = torch.ones(4, device=device)
    x.untyped_storage().resize_(0)
    with pytest.raises(RuntimeError, match="no memory"):
        use(x)
    x.untyped_storage().resize_(16)
    assert x.fill_(2).tolist() == [2, 2, 2, 2]
