"""What Inductor does with each graph of the device, and what its caches have to know of this backend."""

import hashlib
import inspect
from collections.abc import Iterable
from pathlib import Path

import torch
from torch._inductor.custom_graph_pass import CustomGraphModulePass


class GeneratorPass(CustomGraphModulePass):
    """Leaves to eager kernels what the code generator can't express, and stands for it in Inductor's caches.

    A generator whose language lacks something has `should_fallback(node)`; Inductor calls such an operator as it calls a
    convolution.

    The keys of Inductor's caches have the ids of a device's passes, but not of its code generator. So this pass has the
    generator's id: its class, the files of that class and its bases, and the content of this folder. A changed file, and
    another generator, find no old kernel. Generated C++ includes the headers by their paths, so these belong to the id
    too: what the package of another environment has left in the cache doesn't compile once that one is gone. So does the
    current device, whose index is in the code where a tensor is made on a device without one.
    """

    def __init__(self, scheduling: type, headers: Iterable[Path] = (), folder: Path = Path(__file__).parent) -> None:
        self.scheduling = scheduling
        self.headers = tuple(headers)
        self.folder = folder

    def __call__(self, gm: torch.fx.GraphModule) -> None:
        should_fallback = getattr(self.scheduling, "should_fallback", lambda node: False)
        for node in gm.graph.nodes:
            if isinstance(node.target, torch._ops.OpOverload) and should_fallback(node):
                node.meta["should_fallback"] = True

    def uuid(self) -> str:
        content = hashlib.sha256(f"{self.scheduling.__module__}.{self.scheduling.__qualname__}".encode())
        content.update(str(self._current_device()).encode())
        for file in sorted({*self.folder.rglob("*.py"), *self._files_of_class()}):
            content.update(file.name.encode() + b"\0" + file.read_bytes())
        for header in self.headers:
            content.update(str(header).encode() + b"\0" + header.read_bytes())
        return content.hexdigest()

    def _current_device(self) -> int:
        module = torch.get_device_module(torch._C._get_privateuse1_backend_name())
        return module.current_device() if module.is_initialized() and not module._is_in_bad_fork() else 0

    def _files_of_class(self) -> list[Path]:
        bases = [base for base in self.scheduling.__mro__ if base.__module__.split(".")[0] not in ("torch", "builtins")]
        return [Path(inspect.getfile(base)) for base in bases]
