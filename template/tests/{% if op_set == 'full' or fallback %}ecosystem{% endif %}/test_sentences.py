"""sentence-transformers: embeddings of sentences, and their training."""

import pytest
import torch

sentences = pytest.importorskip("sentence_transformers")
tokenizers = pytest.importorskip("tokenizers")
transformers = pytest.importorskip("transformers")

TEXTS = ["a cat sees the dog", "the dog hears a bird", "no bird", "a big red cat and a small dog"]


@pytest.fixture
def folder(tmp_path):
    """A small model as it lies on a disk."""
    words = dict.fromkeys(" ".join(TEXTS).split())
    numbers = {word: number for number, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(tmp_path)
    config = transformers.BertConfig(
        vocab_size=len(numbers), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(tmp_path)
    return str(tmp_path)


def test_embeddings_are_the_cpus(folder, device):
    model = sentences.SentenceTransformer(folder, device=device.type)
    made = model.encode(TEXTS, convert_to_tensor=True)
    assert made.device.type == model.device.type == device.type
    wanted = sentences.SentenceTransformer(folder, device="cpu").encode(TEXTS, convert_to_tensor=True)
    torch.testing.assert_close(made.cpu(), wanted, rtol=1e-4, atol=1e-4)
    similar = model.similarity(made, made)
    assert similar.device.type == device.type and torch.allclose(similar.diagonal(), torch.ones(4, device=device))
    found = sentences.util.semantic_search(made[:1], made, top_k=2)
    assert found[0][0]["corpus_id"] == 0


def test_pairs_are_scored(folder, device):
    config = transformers.AutoConfig.from_pretrained(folder, num_labels=1)
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    pairs = [(TEXTS[0], TEXTS[1]), (TEXTS[2], TEXTS[3])]
    scores = sentences.CrossEncoder(folder, device=device.type).predict(pairs, convert_to_tensor=True)
    assert scores.device.type == device.type
    wanted = sentences.CrossEncoder(folder, device="cpu").predict(pairs, convert_to_tensor=True)
    torch.testing.assert_close(scores.cpu(), wanted, rtol=1e-4, atol=1e-4)


def test_it_trains(folder, device, tmp_path):
    datasets = pytest.importorskip("datasets")
    pytest.importorskip("accelerate").state.AcceleratorState._reset_state(reset_partial_state=True)
    model = sentences.SentenceTransformer(folder, device=device.type)
    data = datasets.Dataset.from_dict({"anchor": TEXTS, "positive": TEXTS[::-1]})
    arguments = sentences.SentenceTransformerTrainingArguments(
        str(tmp_path / "out"), max_steps=4, report_to=[], logging_steps=1, save_strategy="no", disable_tqdm=True
    )
    loss = sentences.sentence_transformer.losses.MultipleNegativesRankingLoss(model)
    trainer = sentences.SentenceTransformerTrainer(model, arguments, train_dataset=data, loss=loss)
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert losses[-1] < losses[0] and model.device.type == device.type
