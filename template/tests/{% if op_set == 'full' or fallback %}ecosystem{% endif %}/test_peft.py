"""peft: adapters of a model that is on the device."""

import copy

import pytest
import torch

peft = pytest.importorskip("peft")
transformers = pytest.importorskip("transformers")

DECODER = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
DECODER |= {"intermediate_size": 64, "vocab_size": 64, "max_position_embeddings": 64}
FAMILY = {"task_type": "CAUSAL_LM"}
ADAPTERS = {
    "LoRA": lambda: peft.LoraConfig(r=4, lora_dropout=0.0, target_modules="all-linear", **FAMILY),
    "DoRA": lambda: peft.LoraConfig(r=4, use_dora=True, target_modules=["q_proj"], **FAMILY),
    "LoHa": lambda: peft.LoHaConfig(r=4, target_modules=["q_proj", "v_proj"], **FAMILY),
    "IA3": lambda: peft.IA3Config(**FAMILY, target_modules=["k_proj", "down_proj"], feedforward_modules=["down_proj"]),
    "prompts": lambda: peft.PromptTuningConfig(num_virtual_tokens=4, **FAMILY),
    "prefixes": lambda: peft.PrefixTuningConfig(num_virtual_tokens=4, **FAMILY),
}


def adapted(name):
    torch.manual_seed(0)
    return peft.get_peft_model(transformers.LlamaForCausalLM(transformers.LlamaConfig(**DECODER)), ADAPTERS[name]())


def train(model, ids):
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    losses = []
    for _ in range(3):
        loss = model.train()(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_adapter_learns_as_on_the_cpu(device, name):
    ids = torch.randint(2, 64, (2, 8))
    on_cpu = adapted(name)
    on_device = copy.deepcopy(on_cpu).to(device)
    assert train(on_device, ids.to(device)) == pytest.approx(train(on_cpu, ids), rel=1e-4)
    assert {parameter.device.type for parameter in on_device.parameters()} == {device.type}


def test_an_adapter_is_saved_loaded_and_merged(device, tmp_path):
    model = adapted("LoRA").to(device)
    ids = torch.randint(2, 64, (2, 8), device=device)
    train(model, ids)
    model.save_pretrained(tmp_path)
    with torch.no_grad():
        wanted = model.eval()(input_ids=ids).logits
        torch.manual_seed(0)
        base = transformers.LlamaForCausalLM(transformers.LlamaConfig(**DECODER)).to(device)
        loaded = peft.PeftModel.from_pretrained(base, tmp_path, torch_device="cpu").eval()
        torch.testing.assert_close(loaded(input_ids=ids).logits, wanted)
        with loaded.disable_adapter():
            assert not torch.allclose(loaded(input_ids=ids).logits, wanted)
        torch.testing.assert_close(loaded.merge_and_unload()(input_ids=ids).logits, wanted, rtol=1e-4, atol=1e-4)
