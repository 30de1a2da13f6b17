"""The strides of results are those of the CPU, or of the meta device: compilers plan with the latter's.

Sizes and dtypes are always those of fake tensors of the device, which differ from the CPU's here and there.
"""

from itertools import islice, product

import pytest
import torch
from parity import DEVICE, copied, tensors_in
from selection import parameters
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map, tree_map_only

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.requires_ops("full")]

# No compiler leaves these as they are: they are made of other operators before.
DECOMPOSED = {"aten.native_group_norm.default", "aten.multilabel_margin_loss_forward.default"}


def pytest_generate_tests(metafunc):
    if "op" not in metafunc.fixturenames:
        return
    ops = [op for op in op_db if op.supports_dtype(torch.float32, "cpu") and not op.name.startswith("jiterator")]
    metafunc.parametrize("op", parameters(metafunc.config, [("strides", "float32", op.full_name, (op,)) for op in ops]))


def reversed_order(x):
    order = list(range(x.dim()))[::-1]
    return x.permute(order).contiguous().permute(order)


def channels_last(x):
    return x.contiguous(memory_format=torch.channels_last) if x.dim() == 4 else x


@pytest.mark.parametrize("lay_out", [reversed_order, channels_last])
def test_strides(op, lay_out, sample_count):
    def given(value):
        return lay_out(value.detach()) if isinstance(value, torch.Tensor) and value.layout == torch.strided else value

    for sample in islice(op.sample_inputs_func(op, torch.device("cpu"), torch.float32, False), sample_count):
        arguments = tree_map(given, (sample.input, sample.args, sample.kwargs))
        expected = [found for device in ("cpu", "meta") if (found := strides(op, arguments, device)) is not None]
        # What only the CPU can do has nothing to agree with.
        if len(expected) == 2:
            ours = strides(op, arguments, DEVICE)
            assert any(agree(ours, theirs) for theirs in expected), f"{ours} instead of one of {expected}"


def test_fake_tensors(op, sample_count):
    for sample in islice(op.sample_inputs_func(op, torch.device("cpu"), torch.float32, False), sample_count):
        arguments = copied((sample.input, sample.args, sample.kwargs), DEVICE)
        if any(x.layout != torch.strided for x in tensors_in(arguments)):
            continue
        mode = FakeTensorMode()
        input, args, kwargs = tree_map_only(torch.Tensor, mode.from_tensor, arguments)
        try:
            with mode:
                expected = forms(op(input, *args, **kwargs))
        except Exception:  # whose sizes depend on values, or on what no fake tensor shows
            continue
        input, args, kwargs = arguments
        assert forms(op(input, *args, **kwargs)) == expected


class Watched(TorchDispatchMode):
    """Compares the strides of what each operator returns with those that a compiler plans with, and with the CPU's."""

    def __init__(self):
        super().__init__()
        self.wrong = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        arguments = (args, kwargs or {})
        writes = func._schema.is_mutable or any(x.layout != torch.strided for x in tensors_in(arguments))
        planned = None if writes or str(func) in DECOMPOSED else planned_strides(func, arguments)
        results = func(*args, **arguments[1])
        if planned is not None:
            found = [of_one(x) for x in tensors_in(results)]
            if len(found) == len(planned) and found != planned:  # not where a mask leaves results out
                theirs = strides_on_cpu(func, arguments) or planned
                if any(ours not in either for ours, *either in zip(found, planned, theirs, strict=True)):
                    self.wrong[str(func)] = f"{found} instead of {planned}"
        return results


def planned_strides(func, arguments):
    mode = FakeTensorMode()
    try:
        args, kwargs = tree_map_only(torch.Tensor, mode.from_tensor, arguments)
        with mode:
            return [of_one(x) for x in tensors_in(func(*args, **kwargs))]
    except Exception:  # sizes that depend on values, or what no fake tensor shows
        return None


def strides_on_cpu(func, arguments):
    args, kwargs = copied(arguments, "cpu")
    try:
        return [of_one(x) for x in tensors_in(func(*args, **kwargs))]
    except RuntimeError:  # it refuses the strides of an argument
        return None


def of_one(tensor):
    """The strides, without those that say nothing."""
    if tensor.numel() <= 1:
        return ()
    return tuple(stride for stride, size in zip(tensor.stride(), tensor.shape, strict=True) if size > 1)


@pytest.mark.parametrize("lay_out", [reversed_order, channels_last])
def test_operators_of_a_backward(op, lay_out, sample_count):
    def given(value):
        if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
            return value
        return lay_out(value.detach()).requires_grad_(value.requires_grad)

    watched = Watched()
    samples = op.sample_inputs_func(op, torch.device(DEVICE), torch.float32, op.supports_autograd)
    for sample in islice(samples, sample_count):
        input, args, kwargs = tree_map(given, (sample.input, sample.args, sample.kwargs))
        inputs = [x for x in tensors_in((input, args, kwargs)) if x.requires_grad]
        try:
            with watched:
                results = sample.output_process_fn_grad(op.gradcheck_wrapper(op.get_op(), input, *args, **kwargs))
                outputs = [x for x in tensors_in(results) if x.requires_grad]
                if inputs and outputs:
                    torch.autograd.grad(outputs, inputs, [torch.ones_like(x) for x in outputs], allow_unused=True)
        except RuntimeError:  # what isn't differentiable, or takes no such strides
            continue
    assert not watched.wrong


F = torch.nn.functional
LAYOUTS = {
    "contiguous": lambda: torch.rand(2, 3, 4, 6),
    "channels last": lambda: channels_last(torch.rand(2, 3, 4, 6)),
    "permuted": lambda: torch.rand(3, 4, 2, 6).permute(2, 0, 1, 3),
    "strided": lambda: torch.rand(2, 6, 4, 6)[:, ::2],
    "channels last, one column": lambda: channels_last(torch.rand(2, 3, 4, 1)),
}


def of_a_sum(y, kept):
    return y.new_ones([size if dim in kept else 1 for dim, size in enumerate(y.shape)]).expand(y.shape)


GRADIENTS = {
    "contiguous": lambda y: y.new_ones(y.shape),
    "channels last": lambda y: channels_last(y.new_ones(y.shape)),
    "of a sum": lambda y: y.new_ones(()).expand(y.shape),
    "of a sum that keeps dimensions": lambda y: of_a_sum(y, kept=()),
    "of a sum of each image's channels": lambda y: of_a_sum(y, kept=(0, 1)),
    "of a sum of the channels": lambda y: of_a_sum(y, kept=(1,)),
    "of a sum of the batch": lambda y: y.new_ones(y.shape[1:]).expand(y.shape),
}
DIFFERENTIATED = {
    "mse_loss": lambda x: F.mse_loss(x, torch.ones_like(x), reduction="none"),
    "mse_loss's mean": lambda x: F.mse_loss(x, torch.ones_like(x)),
    "smooth_l1_loss": lambda x: F.smooth_l1_loss(x, torch.ones_like(x), reduction="none"),
    "huber_loss": lambda x: F.huber_loss(x, torch.ones_like(x), reduction="none"),
    "soft_margin_loss": lambda x: F.soft_margin_loss(x, torch.ones_like(x), reduction="none"),
    "binary_cross_entropy": lambda x: F.binary_cross_entropy(x, torch.ones_like(x), reduction="none"),
    "glu": lambda x: F.glu(x, 2),
    "glu of the last dimension": lambda x: F.glu(x, -1),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "batch_norm without training": lambda x: F.batch_norm(x, x.new_zeros(3), x.new_ones(3)),
    "instance_norm": F.instance_norm,
    "group_norm": lambda x: F.group_norm(x, 3),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[2:]),
    "softmax": lambda x: x.softmax(1),
    "gelu": F.gelu,
    "prelu": lambda x: F.prelu(x, x.new_ones(3)),
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
    "interpolate": lambda x: F.interpolate(x, scale_factor=2),
    "conv2d": lambda x: F.conv2d(x, x.new_ones(4, 3, 2, 2)),
}
TWO_COLUMNS = ("glu of the last dimension", "max_pool2d", "avg_pool2d", "conv2d")
DIFFERENTIATED_BY_LAYOUT = [
    (name, layout)
    for name, layout in product(DIFFERENTIATED, LAYOUTS)
    if not (name in TWO_COLUMNS and "one column" in layout)
]


def strides_of_gradients(function, lay_out, device):
    x = LAYOUTS[lay_out]().to(device).requires_grad_()
    y = function(x)
    return {
        name: torch.autograd.grad(y, x, gradient(y), retain_graph=True)[0].stride()
        for name, gradient in GRADIENTS.items()
    }


@pytest.mark.parametrize(("name", "lay_out"), DIFFERENTIATED_BY_LAYOUT)
def test_gradients_are_laid_out_as_planned(name, lay_out):
    """Where PyTorch's plan for the CPU and what it does there agree."""
    function = DIFFERENTIATED[name]

    def found_and_planned(device):
        found = strides_of_gradients(function, lay_out, device)
        with FakeTensorMode():
            return found, strides_of_gradients(function, lay_out, device)

    kept = {
        gradient
        for gradient, found, planned in zip(GRADIENTS, *map(dict.values, found_and_planned("cpu")), strict=True)
        if found == planned
    }
    found, planned = found_and_planned(DEVICE)
    assert {gradient: found[gradient] for gradient in kept} == {gradient: planned[gradient] for gradient in kept}


def forms(results):
    return [(x.shape, x.dtype, x.device) for x in tensors_in(results)]


def agree(ours, theirs):
    return len(ours) == len(theirs) and all(
        one == other or None in (one, other) for one, other in zip(ours, theirs, strict=True)
    )


def strides(op, arguments, device):
    """Those of the results, None for one of few elements; None, if the CPU or the meta device refuses the call."""
    try:
        input, args, kwargs = copied(arguments, device)
        results = op(input, *args, **kwargs)
    except Exception:
        if device == DEVICE:
            raise
        return None
    # The strides of one element say nothing.
    return [x.stride() if x.numel() > 1 else None for x in tensors_in(results) if x.layout == torch.strided]
