"""Trainers of transformers, which ask accelerate for the device."""

import os

import pytest
import torch

transformers = pytest.importorskip("transformers")
accelerate = pytest.importorskip("accelerate")

DECODER = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 2}
DECODER |= {"intermediate_size": 64, "vocab_size": 64, "max_position_embeddings": 64, "pad_token_id": 0}
DEFAULTS = {"learning_rate": 1e-2, "per_device_train_batch_size": 4, "save_strategy": "no"}

pytestmark = pytest.mark.usefixtures("forget_accelerate")


@pytest.fixture
def train(tmp_path):
    """Trains and returns the trainer; the same words and the same start each time."""

    def train(resume=None, steps=4, **options):
        torch.manual_seed(0)
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**DECODER))
        data = [{"input_ids": row, "labels": row} for row in torch.randint(2, 64, (16, 8))]
        arguments = transformers.TrainingArguments(
            tmp_path, max_steps=steps, logging_steps=1, report_to=[], disable_tqdm=True, **DEFAULTS | options
        )
        trainer = transformers.Trainer(model, arguments, train_dataset=data, eval_dataset=data[:8])
        trainer.train(resume_from_checkpoint=resume)
        return trainer

    return train


def losses(trainer):
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def test_it_trains_on_the_device_as_on_the_cpu(train, device, forget_accelerate, monkeypatch):
    trainer = train()
    assert trainer.args.device.type == trainer.accelerator.device.type == device.type
    assert {parameter.device.type for parameter in trainer.model.parameters()} == {device.type}
    assert trainer.predict(trainer.eval_dataset).predictions.shape == (8, 8, 64)
    forget_accelerate()
    monkeypatch.delenv("ACCELERATE_TORCH_DEVICE")
    on_cpu = train()  # what happens without the variable
    assert on_cpu.model.device.type == "cpu"
    assert losses(trainer) == pytest.approx(losses(on_cpu), rel=1e-3)
    assert trainer.evaluate()["eval_loss"] == pytest.approx(on_cpu.evaluate()["eval_loss"], rel=1e-3)


OPTIONS = {
    "accumulation": {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 2},
    "checkpointed layers": {"gradient_checkpointing": True},
    "a fused optimizer": {"optim": "adamw_torch_fused"},
    "SGD": {"optim": "sgd", "learning_rate": 1.0},
    "workers": {"dataloader_num_workers": 2, "dataloader_persistent_workers": True},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_of_the_trainer(train, device, name):
    trainer = train(steps=8, **OPTIONS[name])
    assert losses(trainer)[-1] < losses(trainer)[0]
    assert trainer.model.device.type == device.type


def test_it_goes_on_from_a_checkpoint(train, tmp_path, device, forget_accelerate):
    whole = train(save_strategy="steps", save_steps=2).model.state_dict()
    forget_accelerate()
    resumed = train(resume=str(tmp_path / "checkpoint-2")).model.state_dict()
    for name, weights in whole.items():
        assert weights.device.type == device.type
        torch.testing.assert_close(resumed[name], weights, msg=name)


def test_float16_is_refused_by_a_list(train, amp, device):
    with pytest.raises(ValueError, match="fp16 mixed precision requires a device in"):
        train(fp16=True)
    assert (torch.ones(1, device=device) + 1).item() == 2


def test_bfloat16_is_asked_for_by_the_environment(train, amp, device, monkeypatch):
    with pytest.raises(ValueError, match="doesn't support bf16"):
        train(bf16=True)
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "no")  # so that it is unset in the end
    os.environ["ACCELERATE_MIXED_PRECISION"] = "bf16"
    trainer = train(steps=8)
    assert trainer.accelerator.mixed_precision == "bf16" and losses(trainer)[-1] < losses(trainer)[0]
    weights = trainer.model.lm_head.weight
    with torch.no_grad(), trainer.accelerator.autocast():
        assert weights.device.type == device.type and (weights @ weights.t()).dtype == torch.bfloat16


def test_a_sequence_to_sequence_trainer_generates(tmp_path, device):
    config = transformers.T5Config(
        vocab_size=64, d_model=32, d_kv=8, d_ff=64, num_layers=1, num_heads=4, decoder_start_token_id=0, pad_token_id=0
    )
    data = [{"input_ids": row, "labels": row[:4]} for row in torch.randint(2, 64, (8, 8))]
    arguments = transformers.Seq2SeqTrainingArguments(
        tmp_path, max_steps=2, report_to=[], save_strategy="no", predict_with_generate=True, disable_tqdm=True
    )
    trainer = transformers.Seq2SeqTrainer(
        transformers.T5ForConditionalGeneration(config), arguments, train_dataset=data, eval_dataset=data
    )
    trainer.train()
    assert trainer.model.device.type == device.type
    assert len(trainer.predict(data, max_new_tokens=4).predictions) == 8
