"""What the installed torch says of its operators, read by torchgen without importing torch."""

from __future__ import annotations

from collections import defaultdict
from difflib import get_close_matches
from pathlib import Path

import torchgen
from torchgen.api.types import NativeSignature
from torchgen.context import native_function_manager
from torchgen.gen import parse_native_yaml
from torchgen.model import NativeFunction


class Schemas:
    def __init__(self) -> None:
        folder = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"
        parsed = parse_native_yaml(str(folder / "native_functions.yaml"), str(folder / "tags.yaml"))
        self._functions = {str(function.func.name): function for function in parsed.native_functions}
        self._indices = parsed.backend_indices.values()

    def __contains__(self, op: str) -> bool:
        return op in self._functions

    def nearest(self, op: str) -> str:
        """An operator with the same name and another overload, else one that is spelt almost the same."""
        base = op.partition(".")[0]
        overloads = defaultdict(list)
        for name in self._functions:
            overloads[name.partition(".")[0]].append(name)
        if base in overloads:
            close = get_close_matches(op, overloads[base], n=1, cutoff=0.0)
            rest = [name for name in overloads[base] if name not in close]
            return f"its overloads are {', '.join(close + rest)}."
        close = get_close_matches(op, self._functions, n=1, cutoff=0.6)
        close = close or get_close_matches(base, overloads, n=1, cutoff=0.0)
        return f"did you mean {close[0]}?"

    def cuts_autograd(self, op: str) -> bool:
        """Whether a kernel would replace the composite function that the operator's gradient comes from.

        An abstract operator has an autograd kernel of its own, and what returns no tensor has no gradient.
        """
        function = self._functions[op]
        returns_tensor = any(result.type.is_tensor_like() for result in function.func.returns)
        return function.has_composite_implicit_autograd_kernel and not function.is_abstract and returns_tensor

    def kernels(self, op: str) -> dict[str, bool]:
        """ATen's own functions for the operator, and whether they take SymInt."""
        function = self._functions[op]
        found = [index.get_kernel(function) for index in self._indices]
        return {kernel.kernel: kernel.supports_symint() for kernel in found if kernel is not None}

    def header(self, op: str) -> str:
        return f"ATen/ops/{self._functions[op].root_name}_native.h"

    def ops_header(self, op: str) -> str:
        return f"ATen/ops/{self._functions[op].root_name}_ops.h"

    def ops_struct(self, op: str) -> str:
        return f"at::_ops::{self._functions[op].func.name.unambiguous_name()}"

    def signature(self, op: str) -> str:
        """The C++ types of the operator's arguments and result."""
        function = self._functions[op]
        with native_function_manager(function):
            signature = NativeSignature(function.func, symint=True)
            return f"{signature.returns_type().cpp_type()}({', '.join(a.type for a in signature.arguments())})"

    def declaration(self, op: str, name: str) -> str:
        """The C++ function that implements the operator, as the dispatcher calls it."""
        function = self._functions[op]
        with native_function_manager(function):
            return NativeSignature(function.func, symint=True).defn(name)

    def into_declaration(self, op: str, name: str) -> str:
        """The C++ function that writes the result of each of the operator's forms into an Output."""
        return f"bool {name}({', '.join(['const Output & out', *self._inputs(op)])})"

    def into_pointer_type(self, op: str) -> str:
        types = [argument.rpartition(" ")[0] for argument in self._inputs(op)]
        return f"bool (*)({', '.join(['const Output &', *types])})"

    def _inputs(self, op: str) -> list[str]:
        # The three forms differ in what is written; without that they are the same.
        function = self._functions[op]
        with native_function_manager(function):
            arguments = NativeSignature(function.func.signature(), symint=False).arguments()
        return [argument.no_default().defn() for argument in arguments]

    def has_tensor_arguments(self, op: str) -> bool:
        return any(argument.type.is_tensor_like() for argument in self._functions[op].func.schema_order_arguments())

    def pointer_type(self, op: str, symint: bool) -> str:
        function: NativeFunction = self._functions[op]
        with native_function_manager(function):
            return NativeSignature(function.func, symint=symint).ptr_type()
