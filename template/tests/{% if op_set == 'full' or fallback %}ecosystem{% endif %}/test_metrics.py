"""torchmetrics: what a metric counts on the device is what it counts on the CPU."""

import pytest
import torch

torchmetrics = pytest.importorskip("torchmetrics")

CLASSES = {"task": "multiclass", "num_classes": 5}
IMAGES = torchmetrics.image
CLASSIFIERS = {
    "Accuracy": {},
    "F1Score": {"average": "macro"},
    "ConfusionMatrix": {},
    "AUROC": {"thresholds": 20},
    "AveragePrecision": {},
    "CalibrationError": {},
    "CohenKappa": {},
    "MatthewsCorrCoef": {},
}
NUMBERS = ["MeanSquaredError", "MeanAbsoluteError", "R2Score", "PearsonCorrCoef", "SpearmanCorrCoef", "MeanMetric"]


def check(metric, device, *batches):
    def counted(place):
        ours = metric().to(place)
        for batch in batches:
            ours.update(*(tensor.to(place) for tensor in batch))
        value = ours.compute()
        assert ours.device.type == torch.device(place).type and value.device.type == ours.device.type
        return value.cpu()

    torch.testing.assert_close(counted(device), counted("cpu"), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classification(device, name):
    batches = [(torch.randn(20, 5).softmax(1), torch.randint(5, (20,))) for _ in range(2)]
    check(lambda: getattr(torchmetrics, name)(**CLASSES, **CLASSIFIERS[name]), device, *batches)


@pytest.mark.parametrize("name", NUMBERS)
def test_regression(device, name):
    batches = [tuple(torch.randn(2, 20).unbind()) for _ in range(2)]
    check(getattr(torchmetrics, name), device, *(batch[: 1 if name == "MeanMetric" else 2] for batch in batches))


@pytest.mark.parametrize("name", ["StructuralSimilarityIndexMeasure", "PeakSignalNoiseRatio", "TotalVariation"])
def test_images(device, name):
    image, other = torch.rand(2, 2, 3, 24, 24)
    metric = {"data_range": 1.0} if name != "TotalVariation" else {}
    check(lambda: getattr(IMAGES, name)(**metric), device, (image, other)[: 1 if name == "TotalVariation" else 2])


def test_a_collection_and_retrieval(device):
    both = torchmetrics.MetricCollection([torchmetrics.Accuracy(**CLASSES), torchmetrics.Precision(**CLASSES)])
    both = both.to(device)
    values = both(torch.randn(20, 5, device=device), torch.randint(5, (20,), device=device))
    assert {value.device.type for value in values.values()} == {device.type}
    scores, hits, groups = torch.rand(12), torch.randint(2, (12,)), torch.arange(12) // 4
    check(torchmetrics.retrieval.RetrievalMAP, device, (scores, hits, groups))
    words = torch.randn(2, 6, 5).softmax(2), torch.randint(5, (2, 6))
    check(torchmetrics.text.Perplexity, device, words)
