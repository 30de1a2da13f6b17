"""Two ranks whose collectives go through a transport of one's own: python two_ranks.py RANK STORE PACKAGE DEVICE"""

import importlib
import sys

import torch
import torch.distributed as dist

rank, (store, package, device) = int(sys.argv[1]), sys.argv[2:]
importlib.import_module(package)
dist.init_process_group(f"{device}ccl", init_method=f"file://{store}", rank=rank, world_size=2)
own = torch.tensor([rank, 10, 20]).to(device)
gathered = [torch.empty_like(own) for _ in range(2)]
dist.all_gather(gathered, own)
assert [part.tolist() for part in gathered] == [[0, 10, 20], [1, 10, 20]]
dist.broadcast(own, 1)
assert own.tolist() == [1, 10, 20]
dist.barrier()
try:
    dist.all_reduce(own)
    own.cpu()
except dist.DistBackendError as error:
    print(error)
dist.barrier()
dist.destroy_process_group()
