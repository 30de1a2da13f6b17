"""What the vendor wrote runs on the device."""

import pytest
import torch

from PACKAGE.testing import device_and_cpu, only_native


@pytest.mark.quick
@pytest.mark.parametrize("operator", [torch.exp, torch.tanh])
def test_activations(operator):
    with torch.DEVICE.stream(torch.DEVICE.Stream()), only_native():
        device_and_cpu(operator, torch.linspace(-2, 2, 30))
