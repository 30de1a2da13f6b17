"""torchao: weights of few bits, and training that quantizes."""

import copy

import pytest
import torch
from torch import nn

torchao = pytest.importorskip("torchao")
quantization = torchao.quantization

CONFIGURATIONS = {
    "int8 weights": lambda: quantization.Int8WeightOnlyConfig(),
    "int8": lambda: quantization.Int8DynamicActivationInt8WeightConfig(),
    "float8 weights": lambda: quantization.Float8WeightOnlyConfig(),
    "int4 weights of groups": lambda: quantization.IntxWeightOnlyConfig(
        torch.int4, granularity=quantization.PerGroup(32)
    ),
}


def network():
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32)).eval()


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_quantized_weights_give_what_the_cpu_gives(device, name):
    model, x = network(), torch.randn(4, 64)
    wanted = model(x)
    on_device = copy.deepcopy(model).to(device)
    quantization.quantize_(model, CONFIGURATIONS[name]())
    quantization.quantize_(on_device, CONFIGURATIONS[name]())
    assert type(on_device[0].weight) is type(model[0].weight) is not nn.Parameter
    with torch.no_grad():
        made = on_device(x.to(device))
        assert made.device.type == on_device[0].weight.device.type == device.type
        torch.testing.assert_close(made.cpu(), model(x), rtol=1e-3, atol=1e-3)
    assert not torch.equal(made.cpu(), wanted)


def test_quantized_weights_move(device):
    model, x = network(), torch.randn(4, 64)
    quantization.quantize_(model, quantization.Int8WeightOnlyConfig())
    with torch.no_grad():
        wanted = model(x)
        made = model.to(device)(x.to(device))
        assert made.device.type == model[0].weight.device.type == device.type
        torch.testing.assert_close(made.cpu(), wanted)
        torch.testing.assert_close(model.cpu()(x), wanted)


def test_training_for_few_bits(device):
    quantized = quantization.qat.QATConfig(
        weight_config=quantization.qat.IntxFakeQuantizeConfig(torch.int4, group_size=32), step="prepare"
    )
    model = network().to(device).train()
    quantization.quantize_(model, quantized)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(8, 64, device=device), torch.randn(8, 32, device=device)
    losses = []
    for _ in range(10):
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
