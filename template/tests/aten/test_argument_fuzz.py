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
    script = Path(__file__).parent / "argument_fuzz.py"
    done = subprocess.run([sys.executable, script, str(CALLS)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, "died, or failed, in " + "\n".join(done.stderr.splitlines()[-20:])
    assert not done.stdout, done.stdout


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
        lambda x: x.digamma(),
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
