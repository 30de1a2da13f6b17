"""DataLoader with workers of each kind, whose batches go to the device."""

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info


class Squares(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        return torch.full((3,), float(index * index)), {"index": index}


class Counted(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        yield from (torch.tensor([number]) for number in range(worker.id if worker else 0, 12, worker.num_workers))


@pytest.fixture(params=["fork", "spawn", "forkserver"])
def workers(request):
    return {"num_workers": 2, "multiprocessing_context": request.param, "pin_memory": True}


def test_batches_of_workers(device, workers):
    torch.ones(1, device=device)  # it runs before the workers start
    loader = DataLoader(Squares(), batch_size=5, persistent_workers=True, prefetch_factor=3, **workers)
    for _ in range(2):
        seen = []
        for squares, numbers in loader:
            assert squares.is_pinned() and numbers["index"].is_pinned()
            on_device = squares.to(device, non_blocking=True)
            assert torch.equal(on_device.sqrt()[:, 0].long(), numbers["index"].to(device, non_blocking=True))
            seen += numbers["index"].tolist()
        assert seen == list(range(12))


def test_streams_of_workers(device, workers):
    seen = [int((number.to(device, non_blocking=True) + 0).sum()) for number in DataLoader(Counted(), **workers)]
    assert sorted(seen) == list(range(12))


def test_without_workers(device):
    generator = torch.Generator().manual_seed(0)
    loader = DataLoader(Squares(), batch_size=4, shuffle=True, generator=generator, pin_memory=True, drop_last=True)
    total = sum(squares.to(device).sum() for squares, _ in loader)
    assert total.device.type == device.type and total.item() == 3 * sum(number * number for number in range(12))
