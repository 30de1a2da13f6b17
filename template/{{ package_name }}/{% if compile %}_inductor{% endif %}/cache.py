"""What Inductor does with each graph of the device, and what its caches have to know of this backend."""

import hashlib
import inspect
from collections.abc import Iterable
from pathlib import Path

import torch
from torch._inductor.custom_graph_pass import CustomGraphModulePass

aten = torch.ops.aten


def counts_in_memory_order(node: torch.fx.Node) -> bool:
    """Whether Inductor would find the index of a least or greatest number in the order in which the tensor lies in memory.

    It does so for a reduction of several dimensions on all devices but the CPU and those that Triton compiles for.
    """
    if node.target not in (aten.argmax.default, aten.argmin.default):
        return False
    of_all = len(node.args) < 2 or node.args[1] is None
    return of_all and node.all_input_nodes[0].meta["val"].dim() > 1


def bring_number_along(node: torch.fx.Node, device_type: str) -> None:
    """Copies a number of the CPU to the device, where it is the first operand of a tensor there.

    Inductor computes where the first operand is, unless another one is on a device of a type that it knows as a GPU.
    """
    if torch.Tag.pointwise not in node.target.tags:  # type: ignore[union-attr]
        return
    operands = [each for each in node.all_input_nodes if isinstance(each.meta.get("val"), torch.Tensor)]
    others = [each.meta["val"].device for each in operands if each.meta["val"].device.type == device_type]
    if not others or operands[0].meta["val"].device.type != "cpu":
        return
    graph = node.graph
    with graph.inserting_before(node):
        copy = graph.call_function(torch.ops.prims.device_put.default, (operands[0], others[0]))
    copy.meta["val"] = operands[0].meta["val"].to(others[0])
    node.replace_input_with(operands[0], copy)


class GeneratorPass(CustomGraphModulePass):
    """Leaves to eager kernels what Inductor or the code generator can't express, and stands for it in Inductor's caches.

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
        device_type = torch._C._get_privateuse1_backend_name()
        for node in gm.graph.nodes:
            if not isinstance(node.target, torch._ops.OpOverload):
                continue
            bring_number_along(node, device_type)
            if counts_in_memory_order(node) or should_fallback(node):
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
