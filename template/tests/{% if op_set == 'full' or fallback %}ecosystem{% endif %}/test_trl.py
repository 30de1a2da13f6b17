"""trl: the trainers of language models by examples, preferences and rewards."""

import pytest
import torch

trl = pytest.importorskip("trl")
accelerate = pytest.importorskip("accelerate")
datasets = pytest.importorskip("datasets")
tokenizers = pytest.importorskip("tokenizers")
transformers = pytest.importorskip("transformers")

WORDS = "the a cat dog bird sees hears likes big small red blue and or not yes no".split()
DECODER = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 2}
DECODER |= {"intermediate_size": 64, "max_position_embeddings": 128, "pad_token_id": 0, "eos_token_id": 1}

pytestmark = pytest.mark.usefixtures("forget_accelerate")


@pytest.fixture
def tokenizer():
    numbers = {word: number for number, word in enumerate(["<pad>", "<eos>", "<unk>", *WORDS])}
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, unk_token="<unk>"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
    )


@pytest.fixture
def options(tmp_path):
    # trl asks for bfloat16 unless it is told otherwise, and that by the list of transformers.
    return {"output_dir": tmp_path, "max_steps": 3, "report_to": [], "logging_steps": 1} | {
        "save_strategy": "no", "per_device_train_batch_size": 4, "disable_tqdm": True, "gradient_checkpointing": False
    }  # fmt: skip


def model(kind="LlamaForCausalLM", **more):
    torch.manual_seed(0)
    return getattr(transformers, kind)(transformers.LlamaConfig(**DECODER, vocab_size=len(WORDS) + 3, **more))


def sentences(count, seed=0):
    order = torch.randint(len(WORDS), (count, 6), generator=torch.Generator().manual_seed(seed))
    return [" ".join(WORDS[number] for number in row) for row in order.tolist()]


def check(trainer, device):
    assert trainer.train().training_loss < float("inf")
    assert trainer.accelerator.device.type == device.type
    assert {parameter.device.type for parameter in trainer.model.parameters()} == {device.type}


PAIRS = {"prompt": sentences(8), "chosen": sentences(8, 1), "rejected": sentences(8, 2)}


def test_examples(tokenizer, options, device, forget_accelerate, monkeypatch):
    def losses():
        forget_accelerate()
        data = datasets.Dataset.from_dict({"text": sentences(8)})
        trainer = trl.SFTTrainer(
            model(), trl.SFTConfig(bf16=False, **options), train_dataset=data, processing_class=tokenizer
        )
        trainer.train()
        return trainer.model.device.type, [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]

    place, on_device = losses()
    assert place == device.type
    monkeypatch.setenv("ACCELERATE_TORCH_DEVICE", "cpu")
    assert ("cpu", pytest.approx(on_device, rel=1e-3)) == losses()


def test_bfloat16_is_refused_and_is_the_default(options, device):
    for chosen in ({}, {"bf16": True}):
        with pytest.raises(ValueError, match="doesn't support bf16"):
            trl.SFTConfig(**chosen, **options)
    settings = trl.SFTConfig(bf16=False, **options)
    assert (torch.ones(1, device=settings.device) + 1).device.type == device.type


def test_adapters_of_examples(tokenizer, options, device):
    peft = pytest.importorskip("peft")
    data = datasets.Dataset.from_dict({"text": sentences(8)})
    adapter = peft.LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM")
    check(
        trl.SFTTrainer(
            model(),
            trl.SFTConfig(bf16=False, **options),
            train_dataset=data,
            processing_class=tokenizer,
            peft_config=adapter,
        ),
        device,
    )


def test_preferences(tokenizer, options, device):
    data = datasets.Dataset.from_dict(PAIRS)
    check(
        trl.DPOTrainer(
            model(), model(), args=trl.DPOConfig(bf16=False, **options), train_dataset=data, processing_class=tokenizer
        ),
        device,
    )


def test_rewards(tokenizer, options, device):
    data = datasets.Dataset.from_dict({name: PAIRS[name] for name in ("chosen", "rejected")})
    network = model("LlamaForSequenceClassification", num_labels=1)
    check(
        trl.RewardTrainer(
            network, args=trl.RewardConfig(bf16=False, **options), train_dataset=data, processing_class=tokenizer
        ),
        device,
    )


def test_groups_of_answers(tokenizer, options, device):
    data = datasets.Dataset.from_dict({"prompt": PAIRS["prompt"]})
    settings = trl.GRPOConfig(bf16=False, **options, num_generations=2, max_completion_length=4)

    def lengths(completions, **_):
        return [float(len(text)) for text in completions]

    check(
        trl.GRPOTrainer(model(), reward_funcs=lengths, args=settings, train_dataset=data, processing_class=tokenizer),
        device,
    )
