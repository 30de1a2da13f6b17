"""accelerate: one line of the environment names the device."""

import pytest
import torch
from torch import nn

accelerate = pytest.importorskip("accelerate")

pytestmark = pytest.mark.usefixtures("forget_accelerate")


def made():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 3))
    data = torch.utils.data.TensorDataset(torch.randn(24, 8), torch.randint(3, (24,)))
    return model, torch.optim.AdamW(model.parameters(), lr=1e-2), torch.utils.data.DataLoader(data, batch_size=4)


def trained(accelerator, epochs=1):
    model, optimizer, loader = accelerator.prepare(*made())
    schedule = accelerator.prepare(torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=4))
    losses = []
    for x, labels in [batch for _ in range(epochs) for batch in loader]:
        assert x.device.type == accelerator.device.type
        with accelerator.accumulate(model):
            loss = nn.functional.cross_entropy(model(x), labels)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        losses.append(accelerator.gather_for_metrics(loss.detach()).item())
    return model, optimizer, losses


def test_it_trains_on_the_device_as_on_the_cpu(device, forget_accelerate, monkeypatch):
    accelerator = accelerate.Accelerator(gradient_accumulation_steps=2)
    assert accelerator.device.type == device.type
    _, _, losses = trained(accelerator)
    forget_accelerate()
    monkeypatch.delenv("ACCELERATE_TORCH_DEVICE")
    on_cpu = accelerate.Accelerator(gradient_accumulation_steps=2)
    assert on_cpu.device.type == "cpu"  # what happens without the variable
    assert losses == pytest.approx(trained(on_cpu)[2], rel=1e-4)


def test_bfloat16_trains_and_float16_is_refused(amp, device, forget_accelerate):
    model, _, losses = trained(accelerate.Accelerator(mixed_precision="bf16"), epochs=3)
    assert losses[-1] < losses[0] and next(model.parameters()).dtype == torch.float32
    assert model(torch.randn(2, 8, device=device)).dtype == torch.float32
    forget_accelerate()
    with pytest.raises(ValueError, match="fp16 mixed precision requires a"):
        accelerate.Accelerator(mixed_precision="fp16")


def test_sharding_is_left_out_without_a_word(device):
    accelerator = accelerate.Accelerator(fsdp_plugin=accelerate.FullyShardedDataParallelPlugin())
    model = accelerator.prepare(nn.Linear(2, 2))
    assert type(model) is nn.Linear and model(torch.ones(1, 2, device=device)).device.type == device.type


def test_a_saved_state_goes_on(device, tmp_path):
    accelerator = accelerate.Accelerator()
    model, _, _ = trained(accelerator)
    accelerator.save_state(tmp_path)
    weights = {name: value.clone() for name, value in model.state_dict().items()}
    numbers = torch.rand(3)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    accelerator.load_state(tmp_path)
    assert torch.equal(torch.rand(3), numbers)
    for name, value in model.state_dict().items():
        assert value.device.type == device.type
        torch.testing.assert_close(value, weights[name])


@pytest.mark.requires_devices(2)
def test_layers_are_dispatched(device, tmp_path):
    model, x = made()[0].eval(), torch.randn(2, 8)
    wanted = model(x)
    first, second = f"{device.type}:0", f"{device.type}:1"
    places = {"0": first, "1": first, "2": second, "3": second}

    def check(model):
        assert [str(parameter.device) for parameter in model.parameters()] == [first] * 4 + [second] * 2
        torch.testing.assert_close(model(x.to(first)).cpu(), wanted)

    def empty():
        with accelerate.init_empty_weights():
            return made()[0].eval()

    accelerator = accelerate.Accelerator()
    accelerator.save_model(model, tmp_path / "pickled", safe_serialization=False)
    check(accelerate.load_checkpoint_and_dispatch(empty(), tmp_path / "pickled", device_map=places))
    # safetensors reads onto no device that it has no name for; through the CPU it goes.
    accelerator.save_model(model, tmp_path / "safe")
    with pytest.raises(Exception, match=f"device {device.type}:. is invalid"):
        accelerate.load_checkpoint_and_dispatch(empty(), tmp_path / "safe", device_map=places)
    on_cpu = accelerate.load_checkpoint_and_dispatch(empty(), tmp_path / "safe", device_map={"": "cpu"})
    check(accelerate.dispatch_model(on_cpu, places))


def test_weights_of_the_cpu_visit_the_device(device):
    model, x = made()[0].eval(), torch.randn(2, 8)
    wanted = model(x)
    offloaded = accelerate.cpu_offload(model, execution_device=device)
    assert {parameter.device.type for parameter in offloaded.parameters()} == {"meta"}
    y = offloaded(x.to(device))
    torch.testing.assert_close(y.cpu(), wanted)
